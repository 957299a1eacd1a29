/**
 * Runs the two test suites and counts their tests.
 * @module
 */
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { commandFile, ROOT, run } from './process.mjs'

/**
 * @typedef {object} Counts
 * @property {string} suite
 * @property {number} passed
 * @property {number} failed - at least 1 if the suite did not end well for any reason.
 * @property {number} skipped
 */

/**
 * `cargo test`, its output shown as it comes.
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<Counts>}
 */
export async function cargoTest(env) {
  const counts = { suite: 'cargo', passed: 0, failed: 0, skipped: 0 }
  const code = await watch('cargo', ['test'], env, (line) => {
    const found = /^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored/.exec(line)
    if (!found) return
    counts.passed += Number(found[1])
    counts.failed += Number(found[2])
    counts.skipped += Number(found[3])
  })
  // It did not compile, or a test program died.
  if (code !== 0 && counts.failed === 0) counts.failed = 1
  return counts
}

/**
 * Runs a program, shows its standard output and hands each line of it to `see`.
 * @param {string} program
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} env
 * @param {(line: string) => void} see
 * @returns {Promise<number>} its exit code.
 */
function watch(program, args, env, see) {
  const child = spawn(program, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'] })
  let rest = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    process.stdout.write(text)
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) see(line)
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve(code ?? 1))
  })
}

/**
 * `vitest run`, its output shown as it comes.
 * @param {import('../setup.mjs').Ready} ready
 * @param {readonly string[]} [args] - further arguments: names of test files, options.
 * @returns {Promise<Counts>}
 */
export async function vitest({ node, version, env }, args = []) {
  const report = join(ROOT, '.cache', 'test', `vitest-${version}-${process.pid}.json`)
  mkdirSync(dirname(report), { recursive: true })
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  try {
    const { code } = await run(node, [commandFile('vitest', 'vitest'), 'run', ...reporters, ...args], { env, show: true })
    return { suite: 'vitest', ...countReport(report, code) }
  } finally {
    rmSync(report, { force: true })
  }
}

/** @param {string} report - path of vitest's JSON report. @param {number} code - vitest's exit code. */
function countReport(report, code) {
  const counts = { passed: 0, failed: 0, skipped: 0 }
  try {
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests } = JSON.parse(readFileSync(report, 'utf8'))
    counts.passed = numPassedTests
    counts.failed = numFailedTests
    counts.skipped = numPendingTests + numTodoTests
  } catch (error) {
    console.error(`vitest left no report: ${error}`)
  }
  // A file that does not load, an error outside of a test, or no test at all has no failed test of its own.
  if (counts.failed === 0 && (code !== 0 || counts.passed === 0)) counts.failed = 1
  return counts
}

/**
 * One line of counts.
 * @param {Omit<Counts, 'suite'>} counts
 */
export function said({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}
