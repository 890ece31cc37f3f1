import { isProse } from '#lib/tools'

/** A text behind these characters is not looked at. */
const CHARS = 40_000

/** What a turn of words does, as far as its form tells: the command it speaks, or all that it says. */
export interface Act {
  readonly text: string
  /** It is written in the form of a call: a fenced or tagged block, an object, or lines of ReAct. */
  readonly spoken: boolean
}

/** Thoughts around a spoken call differ from turn to turn, so they are left out. */
export const actOf = (reply: string): Act => {
  const text = reply.slice(0, CHARS)
  const spoken = fenced(text) ?? object(text.trim()) ?? tagged(text) ?? react(text)
  return spoken === undefined ? { text: plain(text), spoken: false } : { text: plain(spoken), spoken: true }
}

const plain = (text: string): string => text.replace(/\s+/g, ' ').trim()

const fence = /^[ \t]*```[^\n`]*\n([\s\S]*?)^[ \t]*```[ \t]*$/gm

/** The one fenced block of a text: mini-swe-agent, SWE-agent, Terminus in its JSON. Of several nobody knows which is run. */
const fenced = (text: string): string | undefined => {
  if (!text.includes('```')) return undefined
  const blocks = [...text.matchAll(fence)]
  const [, body] = blocks[0] ?? []
  if (body === undefined || blocks.length > 1) return undefined
  return object(body.trim()) ?? body
}

/** A JSON object without what it says in prose: Terminus. */
const object = (text: string): string | undefined => {
  if (!text.startsWith('{') || !text.endsWith('}')) return undefined
  try {
    const value = JSON.parse(text) as Readonly<Record<string, unknown>>
    const rest = Object.entries(value).filter(([name]) => !isProse(name) && !isPlan(name))
    return rest.length === 0 ? undefined : JSON.stringify(rest)
  } catch {
    return undefined
  }
}

/** What Terminus and its like call their thoughts besides. */
const isPlan = (name: string): boolean => /^(?:plan|observation|state_analysis|summary|think)$/i.test(name)

const prose = /<(think|thinking|thought|analysis|plan|reasoning|reflection|explanation)>[\s\S]*?<\/\1>/gi

const element = /<([a-z][\w.:-]{0,63})((?:\s[^<>]{0,1024})?|=[^<>\s]{1,128})>[\s\S]*?<\/\1>/gi

/** The tagged blocks of a text: `<execute_bash>`, `<function_calls>`, `<read_file>` of Cline and Roo, the commands of Terminus in its XML. */
const tagged = (text: string): string | undefined => {
  if (!text.includes('</')) return undefined
  const blocks = text.replace(prose, '').match(element)
  return blocks === null ? undefined : blocks.join('\n')
}

/** `Action:` and `Action Input:` of ReAct. */
const react = (text: string): string | undefined => /^Action:[^\n]*(?:\n+Action Input:[\s\S]*)?/m.exec(text)?.[0]
