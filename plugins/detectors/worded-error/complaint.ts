/** What a complaint is told by; what follows is mostly what it is about. */
const CHARS = 300
/** It says so within these. */
const BEGINNING = 200

/** Words with which tools complain. What merely holds one of them differs from turn to turn, or is another rule's. */
const word = new RegExp(
  `err(?:or|no)|exception|\\b(?:${[
    'traceback',
    'fatal',
    'panic',
    'fail(?:ed|ure|s)?',
    'invalid',
    'missing',
    'required',
    'unable',
    "can(?:not|'t)",
    "could(?: not|n't)",
    'not found',
    'no such',
    'does not exist',
    'un(?:known|supported|recogni[sz]ed|authori[sz]ed|expected)',
    'forbidden',
    'bad request',
    'denied',
    'refused',
    'reject(?:ed|s)',
    'http(?: error)? [45]\\d\\d',
  ].join('|')})\\b`,
  'i',
)

/** Members of JSON that say so. */
const member =
  /"(?:error|errors|exception)":\s*(?:"[^"]|\{|\[\s*[^\]\s]|true)|"(?:is_?error)":\s*true|"success":\s*false|"(?:status|code|type|object)":\s*"?(?:error|failed|failure|[45]\d\d\b)/i

/** A name of a member, which says nothing by itself. */
const name = /"[\w-]{1,64}"\s*:/g

/** Members that tell one answer from another. */
const unlike = /("[\w-]{0,40}(?:id|request|trace|time|timestamp|date|path|url|uri|instance)"\s*:\s*)"[^"\n]{0,200}"/gi

/** The complaint of a result without what differs: numbers, what stands in quotes, paths. Undefined if it is none. */
export const complaintOf = (result: string): string | undefined => {
  const text = result.trimStart().slice(0, CHARS)
  const isJson = text.startsWith('{') || text.startsWith('[')
  const beginning = text.slice(0, BEGINNING)
  const complains = isJson ? member.test(text) || word.test(beginning.replace(name, '')) : word.test(beginning)
  return complains ? masked(text, isJson) : undefined
}

const masked = (text: string, isJson: boolean): string =>
  text
    .replace(unlike, '$1')
    .replace(isJson ? /\\"(?:[^"\\]|\\[^"])*\\"/g : /"[^"\n]{0,200}"/g, '"')
    .replace(/`[^`\n]{0,200}`|(?<![a-z])'[^'\n]{0,200}'/gi, "'")
    .replace(/(?:[\w.~-]*\/){1,64}[\w.-]*/g, '/')
    .replace(/\b(?:[0-9a-f]{8,64}|0x[0-9a-f]+)\b|\d+/gi, '#')
    .replace(/\s+/g, ' ')
    .trim()
