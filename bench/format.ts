/**
 * Numbers for people.
 * @module
 */

/** Three significant digits, without an exponent. */
function digits(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en-US')
  if (value >= 10) return value.toFixed(1)
  return value >= 1 ? value.toFixed(2) : value.toFixed(3)
}

/** Milliseconds as µs, ms or s. */
export function time(ms: number): string {
  if (ms < 1) return `${Math.round(ms * 1000)} µs`
  return ms < 10_000 ? `${digits(ms)} ms` : `${digits(ms / 1000)} s`
}

/** A ratio, with `×`. */
export function ratio(value: number): string {
  return `×${value >= 10 ? Math.round(value).toLocaleString('en-US') : value.toFixed(value >= 2 ? 1 : 2)}`
}

/** Bytes as MB. */
export function memory(bytes: number): string {
  const mb = bytes / (1024 * 1024)
  return mb >= 10 ? `${Math.round(mb)} MB` : `${mb.toFixed(1)} MB`
}

/** A stall in milliseconds. The probe ticks once a millisecond, so less than that is all it can say. */
export function stall(ms: number | null): string {
  if (ms === null) return '–'
  return ms < 1 ? '< 1 ms' : time(ms)
}
