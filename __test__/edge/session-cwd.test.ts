/** Edge cases of the session's working directory (contract: working directory). */
import { beforeEach, expect, test } from 'vitest'
import { agentIn, type Edge, successOf, withTools } from './context.ts'

// up.txt, deep/up.txt, deep/in/own, and the link ln -> deep/in
let edge: Edge
beforeEach(async () => {
  edge = await withTools()
  edge.file('up.txt', 'TOP')
  edge.file('deep/up.txt', 'UP')
  edge.file('deep/in/own', 'OWN')
  edge.link('ln', 'deep/in')
})

/** The path and the text that a session in this directory reads. */
async function read(cwd: string | undefined, file_path: string): Promise<[unknown, string | undefined]> {
  const value = successOf(await edge.call('read', { file_path }, { agent: agentIn(cwd) }))
  return [value['path'], (value['lines'] as { text: string }[])[0]?.text]
}

test('#184 a link as working directory stays as spelled', async () => {
  expect(await read(edge.at('ln'), 'own')).toEqual([edge.at('ln/own'), 'OWN'])
})

test('#185 a path that leads up leaves the real directory', async () => {
  expect(await read(edge.at('ln'), '../up.txt')).toEqual([edge.at('deep/up.txt'), 'UP'])
})

test('#186 any segment back makes the working directory canonical', async () => {
  expect(await read(edge.at('ln'), 'zz/../own')).toEqual([edge.at('deep/in/own'), 'OWN'])
})

test('#187 a segment back in the working directory itself', async () => {
  // The directory above the link's target holds `in`, the one above the link does not.
  expect(await read(`${edge.dir}/ln/../in`, 'own')).toEqual([edge.at('deep/in/own'), 'OWN'])
})

test('#188 a segment back after a link in the path is lexical', async () => {
  expect(await read(edge.dir, 'ln/../up.txt')).toEqual([edge.at('up.txt'), 'TOP'])
})

test('#189 a session without a working directory', async () => {
  expect(await read(undefined, 'up.txt')).toEqual([edge.at('up.txt'), 'TOP'])
})
