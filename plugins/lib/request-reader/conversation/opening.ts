import type { Part } from 'guard-gateway/core'
import { sha256 } from '#lib/ids'
import { collapse } from './fingerprint.ts'
import { withoutReminders } from './system-reminders.ts'

const month = '(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}'
const day = '\\d{1,2}(?:st|nd|rd|th)?'
const half = ' ?[ap]\\.?m\\b\\.?'
const timesAndIds = new RegExp(
  [
    '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}',
    `\\d{1,4}(?:[-/.:]\\d{1,4}){1,7}(?:${half})?`,
    `\\b\\d{1,2}${half}`,
    '(?=[a-f]{0,64}\\d)[0-9a-f]{8,64}',
    '\\d{4,40}',
    `\\b${month}\\.? ${day}\\b`,
    `\\b${day}(?: of)? ${month}\\b`,
    '\\b(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?,? (?=#|\\d|[a-z]{3})',
  ].join('|'),
  'gi',
)

/** The hash of the opening of a conversation, which tells its requests when nothing names them: the system text without times and ids, and the first user text. */
export const openingOf = (parts: Iterable<Part>): string => {
  let system = ''
  for (const part of parts) {
    if (part.kind === 'system') system += `${part.text}\0`
    if (part.kind !== 'user') continue
    const text = collapse(withoutReminders(part.text))
    if (text !== '') return sha256(`${masked(system)}\0${text}`)
  }
  return sha256(`${masked(system)}\0`)
}

const masked = (text: string): string => collapse(text).replace(timesAndIds, '#')
