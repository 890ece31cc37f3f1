import type { Sample } from './samples.ts'

/** One call on record whose arguments are known, redacted. */
export interface SeenCall {
  readonly tool: string
  readonly arguments: Sample
  readonly forwarded: boolean
  readonly count: number
}

/** What the calls on record say of the arguments of tools: they go into lists of what is allowed. */
export interface SeenValues {
  readonly hosts: readonly string[]
  readonly commands: readonly string[]
}

/** What is on record of a tool. */
export interface SeenTool {
  readonly calls: number
  readonly forwarded: number
}

/** What the audit says of the tools of one server. */
export interface SeenServer {
  readonly tools: ReadonlyMap<string, SeenTool>
  readonly calls: readonly SeenCall[]
}

export const NOTHING_SEEN: SeenServer = { tools: new Map(), calls: [] }

const MAX_LISTED = 30
const MAX_CHARS = 200
/** Words without anything that a shell reads. */
const PLAIN_WORDS = /^[A-Za-z0-9_./@:=,+-]+(?: [A-Za-z0-9_./@:=,+-]+)*$/

/** Hosts and commands of calls that were let through, as the arguments of `pointed` have them. */
export const seenValues = (
  calls: readonly SeenCall[],
  pointed: (tool: string, fit: 'http' | 'shell') => readonly string[],
  valuesAt: (args: Sample, pointer: string) => readonly unknown[],
): SeenValues => {
  const hosts = new Set<string>()
  const commands = new Set<string>()
  for (const { tool, arguments: args, forwarded } of calls) {
    if (!forwarded) continue
    const texts = (fit: 'http' | 'shell'): readonly string[] =>
      pointed(tool, fit).flatMap((pointer) => valuesAt(args, pointer).filter((value) => typeof value === 'string'))
    for (const text of texts('http')) addHost(hosts, text)
    for (const text of texts('shell'))
      if (commands.size < MAX_LISTED && text.length <= MAX_CHARS && PLAIN_WORDS.test(text)) commands.add(text)
  }
  return { hosts: [...hosts], commands: [...commands] }
}

const HOST = /^[a-z0-9.-]+$/

const addHost = (hosts: Set<string>, text: string): void => {
  if (hosts.size >= MAX_LISTED || !URL.canParse(text)) return
  const { hostname } = new URL(text)
  if (HOST.test(hostname) && hostname.length <= MAX_CHARS) hosts.add(hostname)
}
