import type { Name } from './assignments.ts'
import { type Hit, marksAt } from './hit.ts'
import { Levels } from './names.ts'
import { isChosen, isHuman, isMade, namesOne } from './opaque.ts'
import { isNone } from './placeholders.ts'
import { unquotedEnd } from './values.ts'

/** How far behind a name its value may stand. */
const REACH = 320

/** Verbs that say what something is, in the languages of those who write. */
const IS =
  'is|was|has been|are|be|now|to|equals|es|era|est|sera|ist|lautet|heißt|war|è|era|é|foi|är|er|on|jest|brzmi|je|olarak|adalah|là|este|это|はい?'
/** Marks of Markdown, quotes and leaders between a name and a value in running text, with the words and particles that join them. */
const JOINED = new RegExp(
  String.raw`["'\x60\])]{0,3}(?:\*\*|__|\*|~~)?[ \t]{0,8}(?:(?:${IS})(?=[\s:])(?:[ \t]+(?:now|set to|set as|reset to))?:?|[はがを는은가이是为為：]{1,2}|(?:now )?(?:set|changed|reset) to:?|from(?= \S)|=>|->|<<<|[:=|]|</\w{1,12}>\s{0,8}(?:<\w{1,12}[^<>\n]{0,80}>){1,3}|(?<=[ \t])[-–—/(]|→|➜|\.{2,40}|\u2026|\d(?=[ \t]))?[ \t]{0,16}(?:\*\*|__|\*|["'\x60「『“«]){0,3}[ \t]{0,4}`,
  'uy',
)
/** Words of a sentence up to a colon or a verb, as programs and people write: `for user postgres: `. */
const SAID = new RegExp(
  String.raw`["'\x60)\]]{0,2}(?:[ \t]+[\p{L}\p{M}\p{N}'’(),./@+_~-]{1,40}){0,10}?[ \t]{0,4}(?:[:：=]|(?<=[ \t])(?:${IS}|/):?)[ \t]+["'\x60«“*]{0,3}[ \t]?(?=\S)`,
  'uy',
)
/** A sentence that ends in a colon, with the value on a line of its own. */
const BELOW = /(?:[^\n:]{0,120}:)?[ \t]*\r?\n(?:[ \t]*\r?\n){0,2}[ \t]*(?=\S+[ \t]*(?:\r?\n|$))/y

const ASKS = new Set(' :\'"`\n')

const matchEnd = (pattern: RegExp, text: string, at: number): number | undefined => {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : undefined
}

/** The bare word that begins at `from`, without the signs that end a sentence or close a mark. */
const wordAt = (text: string, from: number): Hit | undefined => {
  if (marksAt(text, from)) return undefined
  const value = text
    .slice(from, unquotedEnd(text, from, 300))
    .replace(/[\u3000-\u9fff\uac00-\ud7ff\uff00-\uffef].*$/, '')
    .replace(/(?:[.,;:!?]|\*\*|__|[`"')\]|”»])+$/, '')
  return value.length < 6 ? undefined : { start: from, end: from + value.length, kind: 'name' }
}

/** The word ends what is said: the line, the clause, the bracket. */
const endsClause = (text: string, end: number): boolean =>
  /^(?:["'`*_)\]”»]{0,3}[.,;:!?]?(?:\s*$|\r?\n)|["'`*_)\]”»]{0,3}[.,;:!?)]\s|["'`*”»]|[ \t]*[^\x00-\x7f])/.test(
    text.slice(end, end + 8),
  )

/** The word is a value behind a joint: chosen, or made as people make passwords, and no word of the sentence. */
const isJoined = (text: string, { level }: Name, { start, end }: Hit): boolean => {
  const value = text.slice(start, end)
  if (isChosen(value)) return true
  const isMixed = /[a-z]/.test(value) && /[A-Z]/.test(value) && /\d/.test(value)
  return level >= Levels.certain && isHuman(value) && (isMixed || endsClause(text, end))
}

/** The word behind a name without quotes: behind a sign or a verb, or right behind a blank. */
const joinedWord = (text: string, name: Name): Hit | undefined => {
  const joined = matchEnd(JOINED, text, name.end) ?? name.end
  const hit = joined === name.end ? undefined : wordAt(text, joined)
  if (hit === undefined) return undefined
  const joint = text.slice(name.end, joined).trim()
  const value = text.slice(hit.start, hit.end)
  if (joint === '') return isApart(text, name, hit) ? hit : undefined
  // `password 0 …`: how it is written down
  if (/^\d$/.test(joint)) return /[^a-z]/.test(value) && isHuman(`${value}1`) ? hit : undefined
  // in brackets stands what a name is about, too
  const isValue = joint.endsWith('(') ? isMade(value) : isJoined(text, name, hit)
  return isValue ? hit : undefined
}

/** Fields of a line of configuration before a password: `machine … login …`, `username …`. */
const FIELDS = /(?:^|\n)[ \t]*(?:machine|login|default|user(?:name)?|account|pppd|ppp)\b[^\n]{0,120}$/

/** Settings of redis.conf and slapd.conf. */
const SETTING = /^(?:requirepass|masterauth|rootpw|bindpw|olcRootPW)$/

/** A value with nothing but blanks before it: `get secret app-token-x7k2p` names an object. */
const isApart = (text: string, { text: name, start }: Name, hit: Hit): boolean => {
  const value = text.slice(hit.start, hit.end)
  if (SETTING.test(name)) return !isNone(value)
  if (/^[a-z]+(?:-[a-z0-9]+)+$/.test(value)) return false
  if (isChosen(value)) return !name.includes('.') || isMade(value)
  if (!/[A-Z\d]/.test(value.slice(1)) || !/^[\w!#%+=.-]+$/.test(value)) return false
  const isMixed = /^(?=.*[A-Z]).*\d$/.test(value) && /^[a-z]/.test(name) && isHuman(value)
  return (isMixed && endsClause(text, hit.end)) || FIELDS.test(text.slice(Math.max(0, start - 160), start))
}

/** No value is chosen without one of these. */
const CHOSEN_SIGN = /[\dA-Z!#%^*+=~&$@]/

/** The value without quotes behind a name, in running text. */
export const bareAfter = (text: string, name: Name): Hit | undefined => {
  if (name.level < Levels.likely) return codeAfter(text, name)
  if (!CHOSEN_SIGN.test(text.slice(name.end, name.end + REACH))) return undefined
  const joined = joinedWord(text, name)
  if (joined !== undefined || !ASKS.has(text.charAt(name.end))) return joined
  return saidAfter(text, name) ?? wordAfter(text, name) ?? belowAfter(text, name.end)
}

/** `PIN 4821`, `(pw x7!kk)`. */
const codeAfter = (text: string, { level, text: name, end }: Name): Hit | undefined => {
  const hit = text[end] === ' ' ? wordAt(text, end + 1) : undefined
  const value = hit === undefined ? '' : text.slice(hit.start, hit.end)
  const isMeant =
    level === Levels.code
      ? name === 'PIN' && /^\d{6,8}$/.test(value)
      : (name === 'pw' && isChosen(value)) ||
        (name === 'pass' && isHuman(value) && OF_USER.test(text.slice(Math.max(0, end - 60), end))) ||
        (/^[A-Z_]+_KEY$/.test(name) && isMade(value))
  return isMeant ? hit : undefined
}

/** `user bob, pass …`. */
const OF_USER = /\b(?:user(?:name)?|login|account) \S{1,30},? (?:and )?(?:the )?pass$/i

const saidAfter = (text: string, name: Name): Hit | undefined => {
  let at = matchEnd(SAID, text, name.end)
  for (let joints = 0; joints < 3 && at !== undefined; joints++) {
    const hit = wordAt(text, at)
    if (hit !== undefined && isJoined(text, name, hit) && !namesOne(text.slice(hit.start, hit.end))) return hit
    at = matchEnd(SAID, text, at - 1)
  }
  return undefined
}

/** Behind a word for a password in another language: the first word that is a value, whatever words stand between. */
const wordAfter = (text: string, name: Name): Hit | undefined => {
  if (name.level !== Levels.password || ENGLISH.test(name.text)) return undefined
  NEXT_WORD.lastIndex = name.end
  for (let words = 0; words < 6 && NEXT_WORD.test(text); words++) {
    const hit = wordAt(text, NEXT_WORD.lastIndex)
    const value = hit === undefined ? '' : text.slice(hit.start, hit.end)
    if (hit !== undefined && /\d/.test(value) && isHuman(value) && !namesOne(value)) return hit
    NEXT_WORD.lastIndex += /^\S*/.exec(text.slice(NEXT_WORD.lastIndex, NEXT_WORD.lastIndex + 60))?.[0].length ?? 0
  }
  return undefined
}
const ENGLISH = /pass(?!ord|ei)|pwd|secret|token|key|cred/i
const NEXT_WORD = /[ \t]+["'«“]?/y

const belowAfter = (text: string, end: number): Hit | undefined => {
  const below = matchEnd(BELOW, text, end)
  const hit = below === undefined ? undefined : wordAt(text, below)
  if (hit === undefined) return undefined
  const isValue = text.slice(end, hit.start).includes(':') ? isChosen : isMade
  return isValue(text.slice(hit.start, hit.end)) ? hit : undefined
}
