/**
 * The only module that loads the addon. The path is right from both places it runs in: `plugin/` and `dist/` lie side by
 * side below the package root, where the generated loader is.
 */
// biome-ignore lint/suspicious/noTsIgnore: with the declarations in place there is no error to expect
// @ts-ignore: the loader's declarations are generated; native-api.ts stands in for them until then.
import * as addon from '../index.js'
import type * as Native from './native-api.ts'

export type {
  CreateError,
  EditHooks,
  EditOutcome,
  MutationHooks,
  Observation,
  ProviderCallbacks,
  ReadHooks,
  ReadOutcome,
  SystemCause,
  Target,
  WriteHooks,
  WriteIntent,
  WriteOutcome,
} from './native-api.ts'

const native = addon as unknown as typeof Native

export const { Cancellation, LocalFs, diffHunks, executeEdit, executeRead, executeWrite } = native
export type Cancellation = Native.Cancellation
export type LocalFs = Native.LocalFs
