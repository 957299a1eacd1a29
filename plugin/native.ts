/**
 * The only module that loads the addon. The path is right from both places it runs in: `plugin/` and `dist/` lie side by
 * side below the package root, where the generated loader is.
 */
export type * from '../index.js'
export { Cancellation, diffHunks, executeEdit, executeRead, executeWrite, LocalFs } from '../index.js'
