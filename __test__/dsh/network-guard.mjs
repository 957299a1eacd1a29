// Preloaded into the harness and every Node process it starts: notes each connection target and each loaded addon in
// the file named by DSH_TEST_NETWORK_LOG, refuses what does not stay on this machine, and ends the process when the test
// DSH_TEST_PID is gone (an interrupted test runner kills its workers, which then cannot clean up).
import dgram from 'node:dgram'
import dns from 'node:dns'
import { appendFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'

const log = process.env.DSH_TEST_NETWORK_LOG

function note(kind, value) {
  appendFileSync(log, `${JSON.stringify({ kind, value })}\n`)
}

function isLoopback(host) {
  return host === undefined || host === '' || host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host)
}

/** `connect(options)`, `connect(port, host)`, `connect(path)`, or the normalised array that net itself passes on. */
function targetOf(args) {
  const first = Array.isArray(args[0]) ? args[0][0] : args[0]
  if (first !== null && typeof first === 'object') return first.path ? { path: first.path } : first
  if (typeof first === 'string' && Number.isNaN(Number(first))) return { path: first }
  return { port: first, host: typeof args[1] === 'string' ? args[1] : undefined }
}

const connect = net.Socket.prototype.connect
net.Socket.prototype.connect = function guardedConnect(...args) {
  const { host, port, path } = targetOf(args)
  note('connect', path ?? `${host ?? 'localhost'}:${port}`)
  if (path === undefined && !isLoopback(host)) throw new Error(`connection to ${host}:${port} refused by the test`)
  return connect.apply(this, args)
}

const send = dgram.Socket.prototype.send
dgram.Socket.prototype.send = function guardedSend(...args) {
  note('datagram', args.filter((arg) => typeof arg === 'string' || typeof arg === 'number').join(' '))
  return send.apply(this, args)
}

for (const [owner, name] of [
  [dns, 'lookup'],
  [dns.promises, 'lookup'],
]) {
  const lookup = owner[name]
  owner[name] = function guardedLookup(host, ...rest) {
    if (!isLoopback(host)) {
      note('lookup', host)
      throw new Error(`lookup of ${host} refused by the test`)
    }
    return lookup.call(this, host, ...rest)
  }
}

const dlopen = process.dlopen
process.dlopen = function notedDlopen(module, filename, ...rest) {
  note('addon', filename)
  return dlopen.call(process, module, filename, ...rest)
}

syncBuiltinESMExports()

setInterval(() => {
  try {
    process.kill(Number(process.env.DSH_TEST_PID), 0)
  } catch {
    process.kill(process.pid, 'SIGKILL')
  }
}, 500).unref()
