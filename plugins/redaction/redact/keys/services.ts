import { ALNUM, BASE64, HEX, OPAQUE, PARTS, URL64, WORD } from '../alphabet.ts'
import { type KeyRule, key, webhook } from './rule.ts'

/** Keys of chat, payment, mail and monitoring. Source: the vendor's documentation where no other is named. */
export const serviceKeys: readonly KeyRule[] = [
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
  key('pat-na1- pat-eu1- pat-na2- pat-eu2- pat-ap1-', URL64, 36, 36, 'uuid'),
  key('shltm_', URL64, 40),
  key('rh-api-', URL64, 36, 36, 'uuid'),
  key('sl.', OPAQUE, 120, 2_048, 'issued'),
  // gitleaks: sendgrid-api-token, mailgun-private-api-token, sendinblue-api-token, twilio-api-key, easypost-*, typeform-api-token
  key('SG.', OPAQUE, 60, 72, 'issued'),
  key('key-', HEX, 32),
  key('re_', WORD, 30, 40, 'mixed'),
  key('xkeysib- xsmtpsib-', URL64, 70, 90),
  key('SK', HEX, 32, 32, 'digits'),
  key('EZAK EZTK', ALNUM, 54),
  key('tfp_', OPAQUE, 40, 60, 'issued'),
  // trufflehog: newrelic*, posthog; gitleaks: new-relic-*, sentry-*, grafana-*, dynatrace-api-token
  key('NRAK- NRRA- NRJS- NRII- NRIQ- NRBR-', URL64, 19, 42, 'mixed'),
  key('sntrys_', OPAQUE, 60, 500),
  key('sntryu_', HEX, 64),
  key('glsa_', WORD, 41, 60),
  key('glc_', BASE64, 32, 400, 'mixed'),
  key('eyJrIjoi', BASE64, 70, 400),
  key('dt0c01. dt0s01. dt0s02. dt0s16.', PARTS, 80, 100),
  key('hcaik_ hcbik_ hcalk_ hcblk_', ALNUM, 58),
  key('phx_ phs_', WORD, 40, 60),
  key('pylf_v1_', WORD, 40, 60),
  key('xaat- xapt-', URL64, 36, 36, 'uuid'),
  key('rootly_', HEX, 64),
  webhook('hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/', 20),
  webhook('discord.com/api/webhooks/ discordapp.com/api/webhooks/', 20),
  webhook('hooks.zapier.com/hooks/catch/ webhook.office.com/webhookb2/ outlook.office.com/webhook/', 8),
  webhook('api.telegram.org/bot', 30),
  // node providers, IFTTT, Mattermost
  { ...key('alchemy.com/v2/ infura.io/v3/ with/key/', URL64, 20, 64, 'mixed'), kind: 'url' },
  { ...key('hooks/', ALNUM, 20, 40, 'issued'), kind: 'url' },
]
