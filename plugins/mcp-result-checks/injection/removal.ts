import type { PieceFinding } from 'guard-gateway/lib/mcp-check'

/** A finding whose edit leaves a word about it in the place of what it found. */
export const removal = (reason: string, start: number, end: number, what: string): PieceFinding => ({
  reason,
  certain: true,
  edit: { start, end, text: `[removed by Guard: ${what}]` },
})
