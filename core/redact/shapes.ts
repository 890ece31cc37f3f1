import { argument } from './arguments.ts'
import { assignment } from './assignments.ts'
import { keyShape } from './key-shape.ts'
import { keyRules } from './keys.ts'
import { element } from './markup.ts'
import { card, iban, ibanCountries } from './numbers.ts'
import { pemKey, puttyKey } from './private-keys.ts'
import { type Compiled, compile, pairOf, type Shape } from './scan.ts'
import { jwt, scheme, schemes } from './tokens.ts'
import { driverAddress, email, userinfo } from './urls.ts'
import { discordToken, dollarToken, entraSecret, mailchimpKey, telegramToken, terraformToken } from './vendor-shapes.ts'

const words = new Map<number, Shape[]>()

const enterAt = (word: string, shape: Shape): void => {
  const pair = pairOf(word)
  const shapes = words.get(pair) ?? []
  if (!shapes.includes(shape)) words.set(pair, [...shapes, shape])
}

/** The first two letters as a sentence, a header or a shout would write them. */
const spellings = (word: string): readonly string[] => [
  word,
  word.charAt(0).toUpperCase() + word.slice(1),
  word.toUpperCase(),
]

for (const rule of keyRules) for (const anchor of rule.anchors) enterAt(anchor, keyShape(rule, anchor))
for (const word of schemes) for (const spelling of spellings(word)) enterAt(spelling, scheme)
for (const country of ibanCountries) enterAt(country, iban)
for (let pair = 20; pair <= 69; pair++) enterAt(String(pair), card)
// A bot's number is written in ASCII digits; these are the base64 of the first one.
for (const digit of ['MT', 'Mj', 'Mz', 'ND', 'NT', 'Nj', 'Nz', 'OD', 'OT']) enterAt(digit, discordToken)
enterAt('eyJ', jwt)
enterAt('PuTTY', puttyKey)
enterAt('access_token', dollarToken)

const sign = (character: string): number => character.charCodeAt(0)
const signs = new Map<number, readonly Shape[]>([
  [sign('='), [assignment]],
  [sign(':'), [userinfo, telegramToken, assignment]],
  [sign('@'), [driverAddress, email]],
  [sign('-'), [pemKey, argument, mailchimpKey]],
  [sign('>'), [element]],
  [sign('~'), [entraSecret]],
  [sign('.'), [terraformToken]],
])

/** Everything that is recognised, laid out for the scanner. */
export const shapes: Compiled = compile({ words, signs })
