import type { Command } from '#lib/command'

/** A text in which routes of the gateway's interface are named by the commands that do the same: `GET /api/v1/runs` becomes `guard replay list`. */
export const nameCommands = (text: string, commands: Iterable<Command>, calledAs = 'guard'): string => {
  if (!/\b[A-Z]{3,6} \/api\//.test(text)) return text
  let named = text
  for (const { id, route } of commands) {
    if (route === undefined) continue
    named = named.replace(patternOf(route), (_all, ...values: readonly (string | number)[]) => {
      const args = values.slice(0, (route.match(/\{/g) ?? []).length).map((value) => argumentOf(String(value)))
      return `"${[calledAs, id, ...args].join(' ')}"`
    })
  }
  return named
}

/** What stands in the place of `{id}`: itself, or an id. A point behind it ends the sentence. */
const patternOf = (route: string): RegExp => {
  const parts = route.split(/\{\w+\}/).map((part) => part.replace(/[.*+?^$()|[\]\\]/g, '\\$&'))
  return new RegExp(`\\b${parts.join('([^\\s/"?]*[^\\s/"?.,;:])')}(?=[,;)"\\s]|\\.?(?:\\s|$))`, 'g')
}

const argumentOf = (value: string): string => value.replace(/^\{(\w+)\}$/, '<$1>')
