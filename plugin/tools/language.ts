/** Language hints for the cards of `read`. Contract: language map. */

/** Language to the file extensions that name it. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  ts: 'ts mts cts',
  tsx: 'tsx',
  js: 'js mjs cjs',
  jsx: 'jsx',
  json: 'json jsonc',
  py: 'py',
  rb: 'rb',
  go: 'go',
  rs: 'rs',
  java: 'java',
  c: 'c h',
  cpp: 'cc cpp hpp cxx',
  cs: 'cs',
  kotlin: 'kt',
  swift: 'swift',
  php: 'php',
  sh: 'sh bash zsh',
  yaml: 'yaml yml',
  toml: 'toml',
  ini: 'ini',
  md: 'md markdown',
  mdx: 'mdx',
  html: 'html htm',
  css: 'css',
  scss: 'scss',
  less: 'less',
  sql: 'sql',
  xml: 'xml',
  lua: 'lua',
}

const LANGUAGE_OF = new Map(
  Object.entries(EXTENSIONS).flatMap(([language, extensions]) => extensions.split(' ').map((extension) => [extension, language])),
)

/**
 * Tells the language of a file by its extension.
 *
 * @param path a path with `/` or `\` between its names
 * @returns the hint, or undefined for no or an unknown extension
 */
export function languageOf(path: string): string | undefined {
  const base = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)
  const dot = base.lastIndexOf('.')
  // A dot in front makes a hidden file, not an extension.
  return dot > 0 ? LANGUAGE_OF.get(base.slice(dot + 1).toLowerCase()) : undefined
}
