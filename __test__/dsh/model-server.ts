/**
 * A chat-completions server on loopback that plays a fixed list of turns as server-sent events and keeps every request.
 * Which turn a request asks for follows from the number of assistant messages it carries, so a repeated request
 * (the harness retries a failed one) gets the same turn again.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Call {
  /** Must be unique in a script: results are looked up by it. */
  id: string
  tool: string
  /** A string is sent as it is, so that malformed arguments can be played. */
  args: Record<string, unknown> | string
}

/** How the first attempt at a turn fails; the attempts after it are answered. */
export type Failure = 'unavailable' | 'cut'

export interface Turn {
  /** What the turn shows, for progress and messages. */
  title: string
  say?: string
  calls?: readonly Call[]
  /** Runs once, before the first answer to this turn: the place for changes that happen behind the harness's back. */
  before?: () => void | Promise<void>
  failFirst?: Failure
}

export interface Message {
  role: string
  content?: unknown
  tool_call_id?: string
  tool_calls?: unknown[]
}

export interface ToolDefinition {
  type: string
  function: { name: string; description: string; parameters: Record<string, unknown> }
}

export interface ModelRequest {
  model: string
  stream?: boolean
  messages: Message[]
  tools?: ToolDefinition[]
}

export interface ModelServer {
  url: string
  /** Requests of the agent loop, repeated ones included. */
  requests: ModelRequest[]
  /** Requests without tools (a session title). */
  auxiliary: ModelRequest[]
  /** What went wrong in the server or does not belong to the protocol; empty after a good run. */
  problems: string[]
  close(): Promise<void>
}

const PIECE_LENGTH = 7
const CUT_AFTER_MS = 50

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

/** Cuts between code points: a piece is sent as JSON, which cannot carry half a surrogate pair through UTF-8. */
function pieces(text: string): string[] {
  const points = [...text]
  const result: string[] = []
  for (let at = 0; at < points.length; at += PIECE_LENGTH) result.push(points.slice(at, at + PIECE_LENGTH).join(''))
  return result
}

/** The deltas of one turn. Arguments of parallel calls come in turns, piece by piece, as a real server may send them. */
function deltas(turn: Turn): Record<string, unknown>[] {
  const result: Record<string, unknown>[] = [{ role: 'assistant', content: '' }]
  for (const piece of pieces(turn.say ?? '')) result.push({ content: piece })
  const calls = turn.calls ?? []
  calls.forEach((call, index) => {
    result.push({ tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.tool, arguments: '' } }] })
  })
  const queues = calls.map((call) => pieces(typeof call.args === 'string' ? call.args : JSON.stringify(call.args)))
  for (let round = 0; queues.some((queue) => round < queue.length); round++) {
    queues.forEach((queue, index) => {
      const piece = queue[round]
      if (piece !== undefined) result.push({ tool_calls: [{ index, function: { arguments: piece } }] })
    })
  }
  return result
}

class EventStream {
  private readonly response: ServerResponse
  private readonly model: string

  constructor(response: ServerResponse, model: string) {
    this.response = response
    this.model = model
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  }

  private event(choices: unknown[], extra: Record<string, unknown> = {}): void {
    const data = { id: 'scripted', object: 'chat.completion.chunk', created: 0, model: this.model, choices, ...extra }
    this.response.write(`data: ${JSON.stringify(data)}\n\n`)
  }

  delta(delta: Record<string, unknown>): void {
    this.event([{ index: 0, delta, finish_reason: null }])
  }

  finish(reason: 'stop' | 'tool_calls'): void {
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
    this.event([{ index: 0, delta: {}, finish_reason: reason }], { usage })
    this.response.end('data: [DONE]\n\n')
  }

  /** Ends the connection in the middle of the answer, once the client has had time to see the beginning. */
  cut(): void {
    setTimeout(() => this.response.destroy(), CUT_AFTER_MS)
  }
}

function play(turn: Turn, stream: EventStream, cut: boolean): void {
  const all = deltas(turn)
  for (const delta of cut ? all.slice(0, Math.ceil(all.length / 2)) : all) stream.delta(delta)
  if (cut) stream.cut()
  else stream.finish((turn.calls ?? []).length > 0 ? 'tool_calls' : 'stop')
}

/**
 * Starts the server on a free port of 127.0.0.1.
 * @param script the turns, in order; the last one should make no call, which ends the harness's task.
 * @param onTurn told the title of each turn when it is first asked for.
 */
export async function startModelServer(script: readonly Turn[], onTurn: (title: string) => void): Promise<ModelServer> {
  const requests: ModelRequest[] = []
  const auxiliary: ModelRequest[] = []
  const problems: string[] = []
  const attempts = new Map<number, number>()

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST' || !request.url?.endsWith('/chat/completions')) {
      problems.push(`unexpected ${request.method} ${request.url}`)
      response.writeHead(404).end()
      return
    }
    const body = JSON.parse(await bodyOf(request)) as ModelRequest
    if (body.stream !== true) problems.push('a request that does not ask for a stream')
    if (!body.tools?.length) {
      auxiliary.push(body)
      play({ title: 'auxiliary', say: 'Scripted session' }, new EventStream(response, body.model), false)
      return
    }
    requests.push(body)
    const number = body.messages.filter((message) => message.role === 'assistant').length
    const turn = script[number]
    if (turn === undefined) {
      problems.push(`the script has no turn ${number}`)
      play({ title: 'beyond the script', say: 'The script is over.' }, new EventStream(response, body.model), false)
      return
    }
    const attempt = (attempts.get(number) ?? 0) + 1
    attempts.set(number, attempt)
    if (attempt === 1) {
      onTurn(turn.title)
      await turn.before?.()
      if (turn.failFirst === 'unavailable') {
        response.writeHead(503, { 'content-type': 'application/json' }).end('{"error":{"message":"try again"}}')
        return
      }
    }
    play(turn, new EventStream(response, body.model), attempt === 1 && turn.failFirst === 'cut')
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      problems.push(String(error))
      response.destroy()
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    auxiliary,
    problems,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
