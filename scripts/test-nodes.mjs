/**
 * `npm run test:nodes`: the vitest suite on every supported major version of Node, one after another.
 * `npm run test:nodes -- 22 26`: only on these.
 * @module
 */
import { bringNode, MAJORS } from './lib/node.mjs'
import { environmentFor, SetupError } from './lib/process.mjs'
import { said, vitest } from './lib/suites.mjs'
import { runCommand, setup } from './setup.mjs'

await runCommand(async () => {
  const asked = process.argv.slice(2)
  const unknown = asked.find((major) => !MAJORS.includes(major))
  if (unknown !== undefined) throw new SetupError(`No Node "${unknown}" here; there are ${MAJORS.join(', ')}.`)
  await setup()
  const lines = []
  let failed = 0
  for (const major of asked.length > 0 ? asked : MAJORS) {
    const { path, version } = await bringNode(major)
    console.log(`\nvitest on Node ${version}`)
    const counts = await vitest({ node: path, version, env: environmentFor(path) })
    failed += counts.failed
    lines.push(`Node ${version.padEnd(10)}${said(counts)}`)
  }
  console.log(`\n${lines.join('\n')}`)
  return failed === 0 ? 0 : 1
})
