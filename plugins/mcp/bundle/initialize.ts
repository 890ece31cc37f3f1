import { isJsonObject, writeJson } from '#lib/json'
import { resultFrame } from '#lib/json-rpc'
import { versions } from '../messages/initialize.ts'
import type { Member } from './member.ts'

/** What servers that are not there may come back with. */
const MAY_COME = ['tools', 'prompts', 'resources'] as const
const LISTED: ReadonlySet<string> = new Set(MAY_COME)
const REASON_CHARS = 300

/** The newest version that all of these speak; undefined for none. */
export const commonVersion = (members: readonly Member[]): string | undefined => {
  const spoken = members.flatMap(({ facts }) => (facts === undefined ? [] : [versions.indexOf(facts.version)]))
  return spoken.length === 0 ? undefined : versions[Math.max(...spoken)]
}

/** The answer to `initialize` of a bundle. `id` is source text. */
export const initializeAnswer = (id: string, bundle_id: string, members: readonly Member[], version: string): string =>
  resultFrame(
    id,
    writeJson({
      protocolVersion: version,
      capabilities: capabilitiesOf(members),
      serverInfo: { name: 'guard-gateway', title: `Guard: ${bundle_id}`, version: '1.0.0' },
      ...instructionsOf(members),
    }),
  )

/** What any of them can do. Lists change where a server goes or comes, and the bundle itself logs that. */
const capabilitiesOf = (members: readonly Member[]): Readonly<Record<string, unknown>> => {
  const merged: Record<string, unknown> = { logging: {} }
  const declared = members.flatMap(({ facts }) => Object.entries(facts?.capabilities ?? {}))
  for (const [name, value] of declared) merged[name] = Object.hasOwn(merged, name) ? joined(merged[name], value) : value
  const come = members.some(({ facts }) => facts === undefined) ? MAY_COME : []
  for (const name of new Set([...come, ...Object.keys(merged).filter((one) => LISTED.has(one))]))
    merged[name] = { ...(isJsonObject(merged[name]) ? merged[name] : {}), listChanged: true }
  return merged
}

/** Both; of what two servers say otherwise about one thing, the first. */
const joined = (one: unknown, other: unknown): unknown =>
  isJsonObject(one) && isJsonObject(other) ? { ...other, ...one, ...trueIn(one), ...trueIn(other) } : one

const trueIn = (capability: object): object =>
  Object.fromEntries(Object.entries(capability).filter(([, can]) => can === true))

/** What each server says, under its name and within marks that it cannot close itself, and who is missing. */
const instructionsOf = (members: readonly Member[]): { readonly instructions?: string } => {
  const parts = members.flatMap(({ id, naming, facts, missing, isOpening }) => {
    if (facts === undefined) {
      const why = missing ?? (isOpening ? 'it has not answered yet' : 'it was not asked')
      return [`The MCP server "${id}" is not there: ${unmarked(why.slice(0, REASON_CHARS))}`]
    }
    if (facts.instructions === undefined || facts.instructions === '') return []
    const names = naming.prefix === '' ? '' : ` names="${naming.prefix}*"`
    return [`<server id="${id}"${names}>\n${unmarked(facts.instructions)}\n</server>`]
  })
  return parts.length === 0 ? {} : { instructions: parts.join('\n\n') }
}

const unmarked = (text: string): string => text.replace(/<(?=\s*\/?\s*server)/gi, '&lt;')
