import { ADDRESS, ALNUM, BASE64, HEX, OPAQUE, PARTS, URL64, WORD } from './alphabet.ts'
import type { Kind } from './hit.ts'

/** A test of the characters behind the anchor. */
export type Check = 'mixed' | 'digits'

/** A key with a public shape: one of these anchors, then a run of one alphabet within these lengths. */
export interface KeyRule {
  readonly kind: Kind
  readonly anchors: readonly string[]
  readonly alphabet: number
  readonly min: number
  readonly max: number
  readonly check?: Check
}

const LONG = 1_024

/** `max` is `min` if absent: most vendors issue one length. */
const key = (anchors: string, alphabet: number, min: number, max = min, check?: Check): KeyRule => ({
  kind: 'key',
  anchors: anchors.split(' '),
  alphabet,
  min,
  max,
  ...(check === undefined ? {} : { check }),
})

const webhook = (anchors: string, min: number): KeyRule => ({
  kind: 'url',
  anchors: anchors.split(' '),
  alphabet: ADDRESS,
  min,
  max: LONG * 4,
})

const models = [
  key('sk-ant-', URL64, 20, LONG),
  key('sk-proj- sk-svcacct- sk-admin- sk-None- sk-or-v1- sk-lf-', URL64, 20, LONG, 'mixed'),
  key('sk-', URL64, 20, LONG, 'digits'),
  key('sess-', ALNUM, 40),
  key('AIza', URL64, 35),
  key('AQ.Ab', URL64, 30, 120, 'mixed'),
  key('hf_ api_org_', ALNUM, 30, 60),
  key('r8_', ALNUM, 37, 40),
  key('gsk_', ALNUM, 48, 60),
  key('xai-', ALNUM, 70, 100),
  key('pplx-', ALNUM, 40, 64),
  key('csk-', ALNUM, 40, 64),
  key('nvapi-', URL64, 50, 90),
  key('tgp_v1_', URL64, 40, 60),
  key('fw_', ALNUM, 22, 40, 'mixed'),
  key('lsv2_pt_ lsv2_sk_', WORD, 40, 60),
  key('pcsk_', WORD, 50, 90),
  key('tvly-', URL64, 28, 60, 'mixed'),
  key('jina_', URL64, 50, 80),
  key('fc-', HEX, 32),
  key('e2b_', HEX, 40),
  key('sk_', HEX, 48),
  key('ABSK', BASE64, 100, 200),
  key('bedrock-api-key-', BASE64, 40, LONG * 4),
]

const clouds = [
  key('AKIA ASIA ABIA ACCA', ALNUM, 16),
  key('GOCSPX-', URL64, 28),
  key('ya29.', URL64, 20, LONG),
  key('1//0', URL64, 40, 200),
  key('LTAI', ALNUM, 12, 26, 'digits'),
  key('AKID', ALNUM, 32, 44, 'mixed'),
  key('AQVN', URL64, 35, 40, 'mixed'),
  key('dop_v1_ doo_v1_ dor_v1_', HEX, 64),
  key('HRKU-', URL64, 36, 80),
  key('vcp_ vci_ vca_ vcr_ vck_', ALNUM, 24, 80, 'mixed'),
  key('nfp_', ALNUM, 36, 60),
  key('fo1_', URL64, 43),
  key('fm1a_ fm1r_ fm2_', BASE64, 100, LONG),
  key('cfut_ cfat_ cfk_', ALNUM, 40, 80),
  key('v1.0-', PARTS, 171, 200),
  key('hvs. hvb. hvr.', URL64, 90, 300),
  key('pul-', HEX, 40),
  key('dp.pt. dp.ct. dp.sa. dp.scim. dp.audit.', ALNUM, 40, 48),
  key('dp.st.', PARTS, 40, 90),
  key('sbp_', HEX, 40),
  key('sb_secret_', WORD, 30, 60),
  key('pscale_tkn_ pscale_pw_ pscale_oauth_', PARTS, 32, 64),
  key('napi_', ALNUM, 60, 80),
  key('rnd_', ALNUM, 28, 40, 'mixed'),
  key('ico-', ALNUM, 32),
  key('pnu_', ALNUM, 36),
  key('tskey-', URL64, 24, 90, 'mixed'),
  key('dapi', HEX, 32, 32),
  key('ops_eyJ', BASE64, 200, LONG),
  key('AGE-SECRET-KEY-1', ALNUM, 58),
]

const code = [
  key('ghp_ gho_ ghu_ ghs_ ghr_', ALNUM, 36, 255),
  key('github_pat_', WORD, 60, 255),
  key('glpat- gldt- glptt- glrt- glsoat- glcbt- glimt- glagent- glft- glffct- gloas-', PARTS, 20, 300),
  key('GR1348941', URL64, 20),
  key('ATBB', ALNUM, 32, 32),
  key('ATATT3 ATCTT3', OPAQUE, 100, 300),
  key('npm_', ALNUM, 36),
  key('pypi-', URL64, 80, 255),
  key('rubygems_', HEX, 48),
  key('cio', ALNUM, 32, 32, 'mixed'),
  key('dckr_pat_ dckr_oat_', URL64, 20, 60),
  key('oy2', ALNUM, 43, 43, 'mixed'),
  key('CLOJARS_', ALNUM, 60),
  key('AKCp', ALNUM, 64, 80),
  key('sqp_ squ_ sqa_', HEX, 40),
  key('bkua_', HEX, 40),
  key('CCIPAT_ CCIPRJ_', WORD, 40, 90),
  key('PMAK-', URL64, 59),
  key('rdme_', ALNUM, 70),
  key('snyk_uat.', PARTS, 40, LONG),
  key('figd_', URL64, 35, 60),
]

const chat = [
  key('xoxb- xoxp- xoxa- xoxr- xoxs- xoxc- xoxd- xoxo-', OPAQUE, 20, 400, 'digits'),
  key('xoxe- xoxe.', PARTS, 40, 400, 'digits'),
  key('xapp-', URL64, 40, 200, 'digits'),
  key('ntn_', ALNUM, 40, 60),
  key('secret_', ALNUM, 43),
  key('lin_api_ lin_oauth_', ALNUM, 40, 64),
]

const payment = [
  key('sk_live_ sk_test_ rk_live_ rk_test_', ALNUM, 16, 255),
  key('whsec_', BASE64, 24, 120),
  key('sq0atp- sq0csp-', URL64, 22, 50),
  key('EAAA', URL64, 60, 64, 'mixed'),
  key('shpat_ shpca_ shppa_ shpss_ shptka_', HEX, 32),
  key('FLWSECK- FLWSECK_TEST-', URL64, 12, 60, 'mixed'),
  key('access-sandbox- access-development- access-production-', URL64, 36),
  key('pdl_live_apikey_ pdl_sdbx_apikey_', WORD, 40, 80),
  key('shippo_live_ shippo_test_', HEX, 40),
  key('duffel_live_ duffel_test_', URL64, 43),
  key('live_ test_', ALNUM, 30, 35, 'mixed'),
]

const mail = [
  key('SG.', PARTS, 66, 66),
  key('key-', HEX, 32),
  key('re_', WORD, 30, 40, 'mixed'),
  key('xkeysib- xsmtpsib-', URL64, 70, 90),
  key('SK', HEX, 32, 32, 'digits'),
  key('EZAK EZTK', ALNUM, 54),
]

const monitoring = [
  key('NRAK- NRRA- NRJS- NRII-', URL64, 19, 42, 'mixed'),
  key('sntrys_', OPAQUE, 60, 400),
  key('sntryu_', HEX, 64),
  key('glsa_', WORD, 41, 60),
  key('glc_', BASE64, 32, 400, 'mixed'),
  key('dt0c01. dt0s01. dt0s02. dt0s16.', PARTS, 80, 100),
  key('hcaik_ hcbik_ hcalk_ hcblk_', ALNUM, 58),
  key('phx_', ALNUM, 40, 60),
  key('pylf_v1_', WORD, 40, 60),
]

const own = [key('guard_ gak_ mcp_', URL64, 43)]

const webhooks = [
  webhook('hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/', 20),
  webhook('discord.com/api/webhooks/ discordapp.com/api/webhooks/', 20),
  webhook('hooks.zapier.com/hooks/catch/ webhook.office.com/webhookb2/ outlook.office.com/webhook/', 8),
  webhook('api.telegram.org/bot', 30),
]

/** Every key and secret address with a public shape, from vendors' own documentation. Order matters among equal anchors only. */
export const keyRules: readonly KeyRule[] = [
  ...models,
  ...clouds,
  ...code,
  ...chat,
  ...payment,
  ...mail,
  ...monitoring,
  ...own,
  ...webhooks,
]
