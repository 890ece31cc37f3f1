import { cac } from 'cac'
import type { Command, Input } from 'guard-gateway/lib/command'
import { globalFlags, ownFlags, type Token } from './flags.ts'

/** Stands before text that must be taken as it is, not as a number or a flag; no argument of a process can hold this character. */
const MARK = '\0'
/** cac knows single words, and what a command is called is settled. */
const COMMAND = 'command'

/** Has cac read a command line that leaves nothing to guess at: words first, then known flags by their long names, values joined to them. Flags that were not typed give no options. */
export const readByCac = (tokens: readonly Token[], command?: Command): Pick<Input, 'args' | 'options'> => {
  const parser = cac('guard')
  const known = parser.command(`${COMMAND} [...args]`)
  const flags = { ...globalFlags, ...(command && ownFlags(command)) }
  // a value that may be left out is read by `takeFields`
  for (const [flag, meaning] of Object.entries(flags)) known.option(flag.replace(/ \[.*\]$/, ''), meaning)
  const words = tokens.flatMap(({ word }) => (word === undefined ? [] : [MARK + word]))
  const typed = tokens.flatMap((token) => (token.word === undefined && token.flag !== undefined ? [token] : []))
  const plain = new Set(typed.flatMap(({ flag }) => (flag?.valued === false ? [flag.long] : [])))
  const valued = typed.flatMap(({ flag, value = '' }) =>
    flag?.valued === true ? [`${flag.long}=${MARK}${value}`] : [],
  )
  const { args, options } = parser.parse(['node', 'guard', COMMAND, ...words, ...plain, ...valued], { run: false })
  const names = new Set(typed.flatMap(({ flag }) => flag?.name ?? []))
  return {
    args: args.map(unmarked) as string[],
    options: Object.fromEntries([...names].map((name) => [name, unmarked(options[name])])),
  }
}

const unmarked = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(unmarked)
  return typeof value === 'string' && value.startsWith(MARK) ? value.slice(MARK.length) : value
}
