/** The package as it would be published: the tarball of `npm pack`. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT } from './place.ts'
import { runWell } from './processes.ts'

/** What has to be built before packing. */
function missing(): string[] {
  const result = ['index.js', 'cordis.patch.yml', 'dist/provider.js', 'dist/sandbox.js', 'dist/tools/index.js', 'dist/policy.js'].filter(
    (path) => !existsSync(join(PROJECT, path)),
  )
  if (!readdirSync(PROJECT).some((name) => /^dsh-fs-native\..+\.node$/.test(name))) result.push('dsh-fs-native.<platform>.node')
  return result
}

interface PackReport {
  filename: string
  files: { path: string }[]
}

/**
 * Packs the project into a directory.
 * @returns the path of the tarball and the paths in it.
 * @throws with the names of what is missing if the project is not built.
 */
export async function packProject(directory: string): Promise<{ tarball: string; files: string[] }> {
  const absent = missing()
  if (absent.length > 0) throw new Error(`cannot pack: ${absent.join(', ')} missing; run "npm run build" first`)
  const result = await runWell('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', directory], {
    cwd: PROJECT,
    env: process.env,
    timeoutMs: 120_000,
  })
  // An array in npm 11 and earlier, an object keyed by package name in later ones.
  const parsed = JSON.parse(result.stdout) as PackReport[] | Record<string, PackReport>
  const report = Object.values(parsed)[0]
  if (report === undefined) throw new Error(`npm pack reported nothing: ${result.stdout}`)
  return { tarball: join(directory, report.filename), files: report.files.map((file) => file.path) }
}
