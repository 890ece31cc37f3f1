import { isDigit, isLetter } from './alphabet.ts'
import { looksIssued } from './issued.ts'
import type { Check, KeyRule } from './keys/rule.ts'
import type { Shape } from './scan.ts'

const count = (text: string, from: number, end: number, is: (unit: number) => boolean): number => {
  let found = 0
  for (let at = from; at < end; at++) if (is(text.charCodeAt(at))) found++
  return found
}

const UUID = /^[0-9a-z]{8}-(?:[0-9a-z]{4}-){3}[0-9a-z]{12}$/i

/** What issued keys have and words joined by hyphens have not. */
const checks: Readonly<Record<Check, (text: string, from: number, end: number) => boolean>> = {
  mixed: (text, from, end) => count(text, from, end, isDigit) > 0 && count(text, from, end, isLetter) > 1,
  digits: (text, from, end) => count(text, from, end, isDigit) > 2,
  issued: (text, from, end) => looksIssued(text, from, end),
  uuid: (text, from, end) => UUID.test(text.slice(from, end)),
}

/** The shape that finds one anchor of a rule; an address keeps its anchor, so that one sees whose it was. */
export const keyShape = ({ kind, alphabet, min, max, check }: KeyRule, anchor: string): Shape => {
  const passes = check === undefined ? undefined : checks[check]
  return (scan, at) => {
    if (!scan.text.startsWith(anchor, at)) return undefined
    const from = at + anchor.length
    const end = scan.runEnd(from, alphabet)
    if (end - from < min || end - from > max) return undefined
    if (/(.)\1{7}/.test(scan.text.slice(from, Math.min(end, from + 64)))) return undefined
    if (passes !== undefined && !passes(scan.text, from, end)) return undefined
    return { start: kind === 'url' ? from : at, end, kind }
  }
}
