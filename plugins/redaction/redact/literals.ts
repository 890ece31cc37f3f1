import type { Name } from './assignments.ts'
import type { Hit } from './hit.ts'
import { Levels } from './names.ts'
import { isChosen, isHuman, isSecretUnder, isSureValue, namesOne } from './opaque.ts'
import { isPlaceholder } from './placeholders.ts'
import type { Scan } from './scan.ts'
import { quotedValue } from './values.ts'

/** A literal of one word: walking to the end of others would cost more than they may hold. */
const LITERAL = String.raw`(?=(?:\\?["'\x60]|[a-z@]["'])[^\s"'\x60]{4,512}["'\x60])`

/** The type of a declaration in front of its sign, the argument that names the value, a here-string. */
const DECLARED = new RegExp(
  String.raw`(?:\\?["'\x60]\)?|\]){0,3}(?!-(?!prompt|stdin))(?![ \t]{0,4},[ \t]*(?!value|default|with|text|do|to|is|be)\w+[ \t]*[=:])[ \t]{0,4}(?::|,|as\b)?[\w.<>[\]()*&?,' -]{0,60}?[ \t]*(?:\{ ?get; ?(?:\w+ )?(?:set|init); ?\}[ \t]*)?(?::?=(?![=>])|<<<|(?:\b|-)value\b|\bdefault\w*[:=]|\b(?:with|text|do|to|is|be):)[ \t]*${LITERAL}`,
  'iy',
)
/** Signs, types and words that wrap a value; a line may end behind what opens. */
const BETWEEN = new RegExp(
  String.raw`(?:\\?["'\x60]\)?|\]){0,3}(?!-(?!prompt|stdin))((?:[ \t]*(?:(?:[({>]\n\s*|,(?![ \t]*\w)|[=:<>|?!&*@().{}[\]~/→➜⇒-])|'static |[\w$]{1,25}(?![\w$]))){0,12}?)[ \t]*${LITERAL}`,
  'iy',
)
const ASSIGNS = /(?:^|[^=!<>])=(?!=)|<-|->|<<<|→|➜|⇒|\|\||\?\?/

/** The literal in quotes behind a name, whatever stands between. */
export const literalAfter = (scan: Scan, name: Name): Hit | undefined => {
  const { text, rules } = scan
  DECLARED.lastIndex = name.end
  BETWEEN.lastIndex = name.end
  const isDeclared = DECLARED.test(text)
  const between = isDeclared ? '=' : BETWEEN.exec(text)?.[1]
  const from = isDeclared ? DECLARED.lastIndex : BETWEEN.lastIndex
  if (between === undefined || from === name.end) return undefined
  const hit = quotedValue(text, from, 'name')
  const value = hit === undefined ? '' : text.slice(hit.start, hit.end).replace(/\{[a-z]+\}$/i, '')
  return rules.levelOf(value) === Levels.none && isFreeLiteral(text, name, value, between) ? hit : undefined
}

const isFreeLiteral = (text: string, name: Name, value: string, between: string): boolean => {
  if (isPlaceholder(value)) return false
  if (name.level < Levels.likely) return isSecretUnder(name.level, value) && isChosen(value)
  const words = between.match(/\w+/g)?.length ?? 0
  if (words > 0 && /^[\w\s]*$/.test(between)) return words < 3 && isChosen(value) && !namesOne(value)
  if (name.level < Levels.certain) return isChosen(value)
  return assigns(text, name, between) ? isSureValue(value) : isHuman(value)
}

/** A sign that assigns, or the default of a variable, unless the literal names what is read from elsewhere. */
const assigns = (text: string, name: Name, between: string): boolean => {
  const isDefault = /^,?$/.test(between.trim()) && /^[A-Z][A-Z0-9_]+$/.test(name.text)
  const isKeyword = text[name.start - 1] === ':' && between.trim() === ''
  return isKeyword || isDefault || (ASSIGNS.test(between) && !READS.test(between))
}
const READS = /(?:get\w*|fetch|read\w*|load|lookup|find|input|prompt|env|require|import|open)\W*$/i
