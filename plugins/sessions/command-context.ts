import type { CommandContext, Input } from '#lib/command'
import { writeJson } from '#lib/json'
import { hint } from '#lib/terminal'

/** Prints a page of a list: the response with `--json`, else `lines` of it. The cursor of the next page goes to stderr. */
export const printPage = <T extends { readonly next_cursor: string | null }>(
  page: T,
  { input, io }: CommandContext,
  lines: (page: T) => readonly string[],
  none: string,
): void => {
  if (input.options.json === true) return void io.out.write(`${writeJson(page)}\n`)
  const rendered = lines(page)
  for (const line of rendered) io.out.write(`${line}\n`)
  if (rendered.length === 0) io.err.write(`${none}\n`)
  if (page.next_cursor !== null) hint(`more: --cursor ${page.next_cursor}`, input, io)
}

/** A path with the flags that were given as its filters. */
export const filtered = (path: string, { options }: Input, names: Readonly<Record<string, string>>): string => {
  const query = new URLSearchParams()
  for (const [flag, name] of Object.entries(names)) {
    const value = options[flag]
    if (value !== undefined) query.set(name, String(value))
  }
  return query.size === 0 ? path : `${path}?${query}`
}
