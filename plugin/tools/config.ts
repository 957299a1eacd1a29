/** Configuration of the tools. Contract: config. */
import z from '@deepseek-ai/schemastery'

/** What can be set; everything has a default. All values are positive integers. */
export interface Config {
  /** Lines that one `read` returns, unless it asks for fewer. Default 2000. */
  readLimit?: number
  /** UTF-16 units that `read` keeps of a line. Default 2000. */
  readMaxLineLength?: number
  /** UTF-8 bytes of all lines of one `read`. Default 51200. */
  readMaxBytes?: number
  /** Bytes from which on `read` streams a file in place of loading it whole. Default 10485760. */
  readStreamMinSize?: number
}

/** A configuration in which each default has been filled in. */
export type ResolvedConfig = Required<Config>

export const Config: z<Config> = z.object({
  readLimit: z.number().default(2000),
  readMaxLineLength: z.number().default(2000),
  readMaxBytes: z.number().default(50 * 1024),
  readStreamMinSize: z.number().default(10 * 1024 * 1024),
})

const KEYS = ['readLimit', 'readMaxLineLength', 'readMaxBytes', 'readStreamMinSize'] as const

/**
 * Checks what the schema cannot express.
 *
 * @param config the configuration, defaults included
 * @returns the same, with its type
 * @throws Error that names the first value that is not a positive integer
 */
export function checkConfig(config: Config): ResolvedConfig {
  for (const key of KEYS) {
    const value = config[key]
    if (value === undefined || !Number.isInteger(value) || value < 1) throw new Error(`tool-fs: ${key} must be a positive integer`)
  }
  return config as ResolvedConfig
}
