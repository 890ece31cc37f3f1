import { argument } from './arguments.ts'
import { assignment } from './assignments.ts'
import { commands } from './commands.ts'
import { issuedToken } from './issued.ts'
import { keyShape } from './key-shape.ts'
import { keyRules } from './keys.ts'
import { element } from './markup.ts'
import { card, iban, ibanCountries } from './numbers.ts'
import { lastArgument, pipedPassword, placedArgument, secureString, slashOption } from './piped.ts'
import { identifiedBy, passwordWord, pgpassLine, serverSetting, wireLogin } from './positional.ts'
import { pemKey, puttyKey } from './private-keys.ts'
import { command, commandOption, oracleLogin, setting } from './program-options.ts'
import { type Compiled, compile, type Entry, type Shape } from './scan.ts'
import { jwt, scheme, schemes } from './tokens.ts'
import { driverAddress, email, userinfo } from './urls.ts'
import {
  airtableToken,
  authressKey,
  discordToken,
  dollarToken,
  entraSecret,
  facebookToken,
  mailchimpKey,
  maxmindKey,
  telegramToken,
  terraformToken,
} from './vendor-shapes.ts'

const words: Entry[] = []

const enterAt = (word: string, shape: Shape): void => {
  words.push({ start: word.slice(0, 3), shape })
}

/** Enters a shape that begins with all of the word, so that it is not asked about words that begin alike. */
const enterAtAll = (word: string, shape: Shape): void =>
  enterAt(word, (scan, at) => (scan.text.startsWith(word, at) ? shape(scan, at) : undefined))

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
enterAt('pat', airtableToken)
for (const prefix of ['sc_', 'ext_', 'authress_']) enterAtAll(prefix, authressKey)

for (const name of commands) enterAtAll(name, command)
for (const word of ['set', 'ENV']) enterAtAll(word, setting)
for (const word of ['sqlplus', 'sqlldr', 'impdp', 'expdp', 'rman']) enterAtAll(word, oracleLogin)
for (const spelling of spellings('password')) enterAtAll(spelling, passwordWord)
for (const spelling of spellings('identified')) enterAtAll(spelling, identifiedBy)
for (const word of ['requirepass', 'masterauth', 'rootpw', 'bindpw', 'olcRootPW']) enterAtAll(word, serverSetting)
for (const word of ['htpasswd', 'wpa_passphrase', 'net']) enterAtAll(word, lastArgument)
enterAtAll('ConvertTo', secureString)
for (const word of ['cargo', 'vault', 'snyk', 'railway', 'hcp', 'render', 'pulumi', 'poetry', 'gh', 'rclone'])
  enterAtAll(word, placedArgument)
for (const word of ['AUTH', 'PASS', 'LOGIN']) enterAtAll(word, wireLogin)

const sign = (character: string): number => character.charCodeAt(0)
const signs = new Map<number, readonly Shape[]>([
  [sign('='), [assignment]],
  [sign(':'), [userinfo, telegramToken, pgpassLine, assignment]],
  [sign('@'), [driverAddress, email]],
  [sign('-'), [pemKey, argument, commandOption, mailchimpKey, issuedToken]],
  [sign('_'), [maxmindKey, issuedToken]],
  [sign('|'), [facebookToken, pipedPassword]],
  [sign('/'), [slashOption]],
  [sign('>'), [element]],
  [sign('~'), [entraSecret]],
  [sign('.'), [terraformToken]],
])

/** Everything that is recognised, laid out for the scanner. */
export const shapes: Compiled = compile({ words, signs })
