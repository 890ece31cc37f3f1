import { ALNUM, BASE64, HEX, isDigit, isLetter, OPAQUE, PARTS, skipBlanks, URL64, WORD } from './alphabet.ts'
import { loginCall, logins } from './calls.ts'
import { commands } from './commands.ts'
import { type Hit, marksAt } from './hit.ts'
import { issuedToken, looksIssued } from './issued.ts'
import { cloudKeys } from './keys/clouds.ts'
import { type Check, type KeyRule, key, LONG, webhook } from './keys/rule.ts'
import { type Level, Levels } from './names.ts'
import { card, iban, ibanCountries } from './numbers.ts'
import { isSecretUnder } from './opaque.ts'
import { isPlaceholder } from './placeholders.ts'
import {
  identifiedBy,
  lastArgument,
  pgpassLine,
  pipedPassword,
  placedArgument,
  slashOption,
  substituted,
  wireLogin,
} from './positional.ts'
import { command, commandOption, login } from './program-options.ts'
import { type Compiled, compile, type Entry, type Scan, type Shape } from './scan.ts'
import { telling } from './telling.ts'
import { jwt, scheme, schemes } from './tokens.ts'
import { driverAddress, email, userinfo } from './urls.ts'
import { dottedKey, partedKeys, wholeKeys } from './vendor-shapes.ts'

/** Keys of chat, payment, mail and monitoring. Source: the vendor's documentation where no other is named. */
const serviceKeys: readonly KeyRule[] = [
  // gitleaks: slack-*
  key('xoxb- xoxp- xoxa- xoxr- xoxs- xoxc- xoxd- xoxo-', OPAQUE, 12, 400, 'digits'),
  key('xoxe- xoxe.', PARTS, 40, 400, 'digits'),
  key('xapp-', URL64, 40, 200, 'digits'),
  // gitleaks: notion-api-token, linear-api-key; trufflehog: notion, clickuppersonaltoken, klaviyo
  key('ntn_', ALNUM, 40, 60),
  key('secret_', ALNUM, 43),
  key('lin_api_ lin_oauth_ lin_wh_', ALNUM, 40, 64),
  key('pk_', HEX, 34),
  key('pk_', WORD, 40, 43, 'issued'),
  // gitleaks: stripe-access-token, square-access-token, facebook-page-access-token
  key('sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_', ALNUM, 10, 255, 'issued'),
  key('whsec_', BASE64, 24, 120),
  key('sq0atp- sq0csp-', URL64, 22, 60),
  key('EAAA', URL64, 22, 64, 'issued'),
  key('EAA', ALNUM, 90, 500, 'issued'),
  // gitleaks: shopify-*, flutterwave-*, plaid-api-token, shippo-api-token, duffel-api-token
  key('shpat_ shpca_ shppa_ shpss_ shptka_', HEX, 32, 64),
  key('FLWSECK- FLWSECK_TEST-', URL64, 12, 60, 'mixed'),
  key('access-sandbox- access-development- access-production-', URL64, 36),
  key('pdl_live_apikey_ pdl_sdbx_apikey_', WORD, 40, 80),
  key('shippo_live_ shippo_test_', HEX, 40),
  key('duffel_live_ duffel_test_', OPAQUE, 43),
  key('live_ test_', URL64, 30, 40, 'issued'),
  // trufflehog: hubspot, flexport, robinhoodcrypto; Dropbox
  key('pat-na1- pat-eu1- pat-na2- pat-eu2- pat-ap1- rh-api- ms- xaat- xapt-', URL64, 36, 36, 'uuid'),
  key('shltm_', URL64, 40),
  key('sl.', OPAQUE, 120, 2_048, 'issued'),
  // gitleaks: sendgrid-api-token, mailgun-private-api-token, sendinblue-api-token, twilio-api-key, easypost-*, typeform-api-token
  key('SG.', OPAQUE, 60, 72, 'issued'),
  key('key- cal_live_', HEX, 32),
  key('re_', WORD, 30, 40, 'mixed'),
  key('xkeysib- xsmtpsib-', URL64, 70, 90),
  key('SK', HEX, 32, 32, 'digits'),
  key('EZAK EZTK', ALNUM, 54),
  key('tfp_', OPAQUE, 40, 60, 'issued'),
  // trufflehog: newrelic*, posthog; gitleaks: new-relic-*, sentry-*, grafana-*, dynatrace-api-token
  key('NRAK- NRRA- NRJS- NRII- NRIQ- NRBR-', URL64, 19, 42, 'mixed'),
  key('sntrys_', OPAQUE, 60, 500),
  key('sntryu_ rootly_', HEX, 64),
  key('glsa_', WORD, 41, 60),
  key('glc_', BASE64, 32, 400, 'mixed'),
  key('eyJrIjoi', BASE64, 70, 400),
  key('dt0c01. dt0s01. dt0s02. dt0s16.', PARTS, 80, 100),
  key('hcaik_ hcbik_ hcxik_ hcalk_ hcblk_ hcxlk_ hcaic_ hcbic_ hcxic_ hcxmk_', ALNUM, 26, 80),
  // New Relic in Europe; Factory; Amp; Adafruit; Apify; Cal.com; Ory; Zuplo; Docker Swarm; AppSync; Baidu
  key('eu01xx', ALNUM, 30, 40),
  key('fk-', URL64, 24, LONG, 'mixed'),
  key('sgamp_', WORD, 20, LONG),
  key('aio_', ALNUM, 28),
  key('apify_api_', ALNUM, 30, 60),
  key('ory_pat_ ory_st_ ory_at_ ory_rt_ zpka_', PARTS, 24, LONG),
  key('SWMTKN-1- SWMKEY-1-', URL64, 40, 120),
  key('da2-', ALNUM, 26),
  key('bce-v3/ALTAK-', OPAQUE, 40, 120),
  key('phx_ phs_ pylf_v1_', WORD, 40, 60),
  webhook('hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/', 20),
  webhook('discord.com/api/webhooks/ discordapp.com/api/webhooks/', 20),
  webhook('hooks.zapier.com/hooks/catch/ webhook.office.com/webhookb2/ outlook.office.com/webhook/', 8),
  webhook('api.telegram.org/bot', 30),
  // node providers, IFTTT, Mattermost
  { ...key('alchemy.com/v2/ infura.io/v3/ with/key/', URL64, 20, 64, 'mixed'), kind: 'url' },
  { ...key('hooks/', ALNUM, 20, 40, 'issued'), kind: 'url' },
]

/** Keys of model providers and of what agents call beside them. Source: the vendor's documentation where no other is named. */
const modelKeys: readonly KeyRule[] = [
  // gitleaks: anthropic-api-key, anthropic-admin-api-key; also `oat01`, `sid01`
  key('sk-ant-', URL64, 20, LONG),
  // gitleaks: openai-api-key; trufflehog: openrouter, langfuse
  key('sk-proj- sk-svcacct- sk-service- sk-admin- sk-None- sk-or-v1- sk-lf-', URL64, 20, LONG, 'mixed'),
  key('sk-', URL64, 20, LONG, 'issued'),
  key('sess-', ALNUM, 40),
  { ...key('openai-insecure-api-key.', PARTS, 16, LONG), kind: 'url' },
  // gitleaks: gcp-api-key; keys of Google AI Studio since 2025 begin with `AQ.`
  key('AIza', URL64, 35),
  key('AQ.Ab', URL64, 30, 120, 'mixed'),
  // gitleaks: huggingface-access-token, huggingface-organization-api-token
  key('hf_ api_org_', ALNUM, 30, 60),
  // trufflehog: replicate, groq, xai, nvapi; gitleaks: perplexity-api-key
  key('r8_', URL64, 37, 40),
  key('gsk_', ALNUM, 48, 60),
  key('xai-', WORD, 70, 100),
  key('pplx- csk-', ALNUM, 40, 64),
  key('nvapi-', URL64, 50, 90),
  key('tgp_v1_', URL64, 40, 60),
  key('fw_', ALNUM, 22, 40, 'mixed'),
  // trufflehog: langsmith, pinecone
  key('lsv2_pt_ lsv2_sk_', WORD, 40, 60),
  key('pcsk_', WORD, 50, 90),
  key('tvly-', URL64, 28, 60, 'mixed'),
  key('jina_', URL64, 50, 80),
  key('fc-', HEX, 32),
  key('e2b_', HEX, 40),
  key('sk_', HEX, 48),
  // gitleaks: aws-amazon-bedrock-api-key-long-lived, -short-lived
  key('ABSK', BASE64, 100, 280),
  key('bedrock-api-key-', BASE64, 40, LONG * 4),
  // Cursor, Context7, Daytona, Browserbase, RunPod, Weights & Biases, Voyage, Brave, Dify, Anyscale: as their guides show them
  key('crsr_ key_ dtn_', HEX, 64),
  key('ctx7sk-', URL64, 36, 36, 'uuid'),
  key('bb_live_ bb_test_', URL64, 20, 48, 'issued'),
  key('rpa_', ALNUM, 40, 60, 'mixed'),
  key('wandb_v1_', WORD, 60, 100),
  key('pa-', URL64, 40, 48, 'issued'),
  key('BSA', URL64, 24, 32, 'issued'),
  key('app- dataset-', ALNUM, 24, 24, 'issued'),
  key('esecret_', ALNUM, 24, 64, 'mixed'),
  // Trigger.dev, Inngest
  key('tr_prod_ tr_dev_ tr_stg_ tr_preview_ tr_pat_', ALNUM, 18, 48, 'issued'),
  key('signkey-prod- signkey-test- signkey-branch-', HEX, 32, 64),
  // Sanity; the shape has no divider
  key('sk', ALNUM, 80, 200, 'mixed'),
  key('salad_cloud_', WORD, 9, 255, 'issued'),
  key('fal_ fal-', OPAQUE, 32, 128, 'issued'),
]

/** Keys of code hosting, registries and builds. Source: the vendor's documentation where no other is named. */
const codeKeys: readonly KeyRule[] = [
  // gitleaks: github-pat, github-oauth, github-app-token, github-refresh-token, github-fine-grained-pat
  key('ghp_ gho_ ghu_ ghr_', ALNUM, 36, 255),
  // GitHub: since 2026 an installation's token holds a JWT
  key('ghs_', PARTS, 36, LONG * 2, 'issued'),
  key('github_pat_', WORD, 60, 255),
  // gitleaks: gitlab-*, with the routable forms of 2025
  key('glpat- gldt- glptt- glrt- glrtr- glsoat- glcbt- glimt- glagent- glft- glffct- gloas- glwt-', PARTS, 20, 400),
  key('GR1348941', URL64, 20),
  // gitleaks: atlassian-api-token; trufflehog: bitbucketdatacenter; Trello
  key('ATBB', ALNUM, 32, 32),
  key('ATATT3 ATCTT3', OPAQUE, 100, 300),
  key('ATTA', ALNUM, 72, 72, 'mixed'),
  key('BBDC-', BASE64, 40, 50, 'issued'),
  // gitleaks: npm-access-token, pypi-upload-token, rubygems-api-token, clojars-api-token, artifactory-api-key, -reference-token
  key('npm_', ALNUM, 36),
  key('pypi-', URL64, 80, LONG),
  key('rubygems_', HEX, 48),
  key('CLOJARS_', ALNUM, 60),
  key('AKCp', ALNUM, 64, 80),
  key('cmVmd sqco_', ALNUM, 59),
  key('cio', ALNUM, 32, 32, 'mixed'),
  // trufflehog: dockerhub; Microsoft security-utilities: SEC101/031
  key('dckr_pat_ dckr_oat_', URL64, 20, 60),
  key('oy2', ALNUM, 43, 43, 'mixed'),
  // trufflehog: sonarcloud, buildkite, circleci, postman; gitleaks: sonar-api-token
  key('sqp_ squ_ sqa_ bkua_ bkaj_ bkat_', HEX, 40),
  key('CCIPAT_ CCIPRJ_', WORD, 40, 90),
  key('PMAK-', URL64, 59),
  key('rdme_', ALNUM, 70),
  key('snyk_uat.', PARTS, 40, LONG),
  // secretlint: figma; trufflehog: figmapersonalaccesstoken
  key('figd_ figp_ figu_', OPAQUE, 35, 200),
  // gitleaks: sourcegraph-access-token; trufflehog: sourcegraphcody
  key('sgp_', WORD, 40, 64),
  key('slk_ s-s4t2ud- s-s4t2af-', HEX, 64),
  // JetBrains, LaunchDarkly; trufflehog: portainertoken
  key('perm: perm-', PARTS, 60, 200, 'issued'),
  key('sdk- api- mob-', URL64, 36, 36, 'uuid'),
  key('ptr_', BASE64, 20, 60, 'issued'),
  // Contentful (trufflehog), Frame.io and Adobe (gitleaks: frameio-api-token, adobe-client-secret)
  key('CFPAT-', URL64, 43),
  key('fio-u-', OPAQUE, 64),
  key('p8e-', ALNUM, 32),
  // gitleaks: intra42-client-secret
]

/** Steps of reading a tag. */
const TAG = 100
/** The longest tag and the longest text of an element looked at. */
const MAX_TAG = 256
const MAX_CONTENT = 16_384
/** How far behind an element that holds a name the one with its value may begin. */
const PAIR_REACH = 200

/** The text of `<password>…</password>`, of `<item name="password">…</item>`, and of the element behind `<key>password</key>`; triggered at `>`. */
const element = (scan: Scan, at: number): Hit | undefined => {
  const { text } = scan
  const open = text.lastIndexOf('<', at)
  if (open === -1 || at - open > MAX_TAG) return undefined
  scan.spend(TAG)
  const tag = /^<(?:[\w-]{1,64}:)?([\w.-]{1,64})(?:\s[^<]*)?>$/.exec(text.slice(open, at + 1))?.[1]
  if (tag === undefined) return undefined
  const end = scan.indexOf('</', at + 1)
  if (end === -1 || end - at > MAX_CONTENT || !closes(text, end + 2, tag)) return undefined
  const start = at + 1
  const level = levelOf(scan, tag, open, at)
  if (level === Levels.none) return openPair(scan, tag, start, end)
  const value = text
    .slice(start, Math.min(end, start + 300))
    .replace(/^\s*<!\[CDATA\[|\]\]>\s*$/g, '')
    .trim()
  if (!isSecretUnder(level, value)) return undefined
  return isPlaceholder(value) || marksAt(value, 0) || value.startsWith('<') ? undefined : { start, end, kind: 'name' }
}

const closes = (text: string, from: number, tag: string): boolean =>
  text.startsWith(tag, from) || text.slice(from, from + 130).includes(`:${tag}>`)

/** The level of the element's own name, else of the name that stands before it as an attribute or a sibling. */
const levelOf = (scan: Scan, tag: string, open: number, at: number): Level => {
  const own = scan.rules.levelOf(tag)
  if (own !== Levels.none || scan.pair === undefined) return own
  const inside = scan.pair.from > open && scan.pair.from < at
  const beside = scan.pair.from < open && open < scan.pair.until && /^(?:string|value|val)$/i.test(tag)
  return inside || beside ? scan.pair.level : Levels.none
}

const openPair = (scan: Scan, tag: string, start: number, end: number): undefined => {
  if (!/^(?:key|name)$/i.test(tag) || end - start > 64) return undefined
  const level = scan.rules.levelOf(scan.text.slice(start, end))
  if (level !== Levels.none) scan.pair = { level, from: start, until: end + PAIR_REACH }
  return undefined
}

/** The longest label between the dashes of a PEM line. */
const MAX_LABEL = 64
const CLOSING = ['"', "'", '`', '<'] as const

/** Where a block without an end stops: at a quote or tag around it, else with the text. */
const openEnd = (scan: Scan, from: number): number => {
  let end = scan.text.length
  for (const sign of CLOSING) {
    const at = scan.indexOf(sign, from)
    if (at !== -1 && at < end) end = at
  }
  return end
}

/** `-----BEGIN … PRIVATE KEY …-----` up to its END line: PEM, OpenSSH, PGP and SSH2 blocks, on lines of their own or not. */
const pemKey = (scan: Scan, at: number): Hit | undefined => {
  const { text } = scan
  if (text.charCodeAt(at + 1) !== 0x2d || !text.startsWith('----', at) || text.charCodeAt(at - 1) === 0x2d)
    return undefined
  const label = text.slice(at, at + MAX_LABEL + 16)
  if (!/^-{4,5} ?BEGIN [A-Z0-9 ]{0,48}PRIVATE KEY/.test(label)) return undefined
  const body = at + label.indexOf('PRIVATE KEY')
  const found = scan.indexOf('--- END ', body)
  const plain = scan.indexOf('---END ', body)
  const last = found === -1 ? plain : plain === -1 ? found : Math.min(found, plain)
  if (last === -1) return { start: at, end: openEnd(scan, body), kind: 'private-key' }
  const close = scan.text.indexOf('----', last + 8)
  if (close === -1 || close - last > MAX_LABEL + 16) return { start: at, end: openEnd(scan, last), kind: 'private-key' }
  let end = close
  while (text.charCodeAt(end) === 0x2d) end++
  return { start: at, end, kind: 'private-key' }
}

/** A PuTTY key file from its first line up to its MAC. */
const puttyKey = (scan: Scan, at: number): Hit | undefined => {
  const head = 'PuTTY-User-Key-File-'
  if (!scan.text.startsWith(head, at)) return undefined
  const body = at + head.length
  const mac = scan.indexOf('Private-MAC:', body)
  const end = mac === -1 ? openEnd(scan, body) : scan.runEnd(skipBlanks(scan.text, mac + 12), HEX)
  return { start: at, end, kind: 'private-key' }
}

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
const keyShape = ({ kind, alphabet, min, max, check }: KeyRule, anchor: string): Shape => {
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

const own = [key('guard_ gak_ mcp_', URL64, 43)]

/**
 * Keys and secret addresses with a shape that their vendors make public, as vendors, gitleaks, trufflehog, kingfisher,
 * secretlint and Microsoft's security-utilities describe them. Order matters among equal anchors only.
 */
export const keyRules: readonly KeyRule[] = [...modelKeys, ...cloudKeys, ...codeKeys, ...serviceKeys, ...own]

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
enterAt('eyJ', jwt)
enterAt('PuTTY', puttyKey)
for (const [start, shape] of wholeKeys) enterAtAll(start, shape)

for (const name of logins) enterAtAll(name, loginCall)
for (const name of commands) enterAtAll(name, command)
for (const spelling of spellings('identified')) enterAtAll(spelling, identifiedBy)
for (const word of ['htpasswd', 'wpa_passphrase', 'net']) enterAtAll(word, lastArgument)
const PLACED =
  'sqlplus rman sqlldr impdp expdp cargo vault snyk railway hcp render pulumi poetry composer git gh rclone bw consul mc az gem mysqladmin snmp-server key-string crypto ip radius-server tacacs-server set stats basicauth add_user create_user change_password set_password mosquitto_passwd smbpasswd addprinc ACL sp_addlogin sp_addlinkedsrvlogin db2 iwconfig NickServ send jdbc'
for (const word of PLACED.split(' ')) enterAtAll(word, placedArgument)
for (const word of ['AUTH', 'PASS', 'LOGIN']) enterAtAll(word, wireLogin)

const bySign: Readonly<Record<string, readonly Shape[]>> = {
  ':': [userinfo, pgpassLine],
  '@': [driverAddress, email],
  '-': [pemKey, login, commandOption, issuedToken],
  _: [issuedToken],
  '|': [pipedPassword],
  '/': [slashOption],
  '>': [element],
  '<': [substituted],
  '~': [],
  '.': [dottedKey],
}
const signs = new Map(
  Object.entries(bySign).map(([sign, shapes]) => {
    const parted = partedKeys[sign]
    return [sign.charCodeAt(0), parted === undefined ? shapes : [...shapes, parted]] as const
  }),
)

/** Everything that is recognised, laid out for the scanner. */
export const shapes: Compiled = compile({ tell: telling, words, signs })
