import { ALNUM, BASE64, HEX, OPAQUE, PARTS, URL64, WORD } from '../alphabet.ts'
import { type KeyRule, key, LONG } from './rule.ts'

/** Keys of clouds, databases and what runs there. Source: the vendor's documentation where no other is named. */
export const cloudKeys: readonly KeyRule[] = [
  // gitleaks: aws-access-token
  key('AKIA ASIA ABIA ACCA sm_aat_ sm_pat_ sm_sat_', ALNUM, 16),
  key('A3T', ALNUM, 17, 17, 'issued'),
  // kingfisher: google.2, google.4
  key('GOCSPX-', URL64, 28),
  key('ya29.', URL64, 20, LONG),
  key('1//0', URL64, 40, 200),
  // gitleaks: alibaba-access-key-id, yandex-api-key, yandex-aws-access-token, yandex-access-token
  key('LTAI', ALNUM, 12, 26, 'digits'),
  key('AKID', ALNUM, 32, 44, 'mixed'),
  key('AQVN', URL64, 35, 40, 'mixed'),
  key('YC', URL64, 38, 38, 'issued'),
  key('t1.', PARTS, 90, 400, 'issued'),
  key('y0_ y1_ y2_ y3_', URL64, 30, 200),
  // dbt; Infisical; extended private keys of BIP 32
  key('dbtu_ dbtc_ dbts_ vercel_blob_rw_', WORD, 30, 80),
  key('st.', PARTS, 70, 120, 'digits'),
  // k3s; Volcengine
  key('K10', OPAQUE, 80, 200, 'digits'),
  key('AKLT', ALNUM, 40, 60, 'mixed'),
  key('xprv yprv zprv tprv', ALNUM, 100, 112),
  // gitleaks: digitalocean-pat, -access-token, -refresh-token, heroku-api-key-v2; secretlint: vercel, cloudflare
  key('dop_v1_ doo_v1_ dor_v1_', HEX, 64),
  key('HRKU-', URL64, 36, 80),
  key('vcp_ vci_ vca_ vcr_ vck_', ALNUM, 20, 80, 'mixed'),
  key('nfp_', WORD, 36, 60),
  // gitleaks: flyio-access-token, cloudflare-origin-ca-key
  key('fo1_ sha256~', URL64, 43),
  key('fm1a_ fm1r_ fm2_', BASE64, 100, LONG),
  key('cfut_ cfat_ cfk_', ALNUM, 40, 80),
  key('v1.0-', PARTS, 171, 200),
  // gitleaks: vault-service-token, vault-batch-token; Vault documents 24 characters for tokens without a namespace
  key('hvs. hvb. hvr.', URL64, 24, 320, 'mixed'),
  key('s.', ALNUM, 24, 24, 'issued'),
  // gitleaks: pulumi-api-token, doppler-api-token, planetscale-*, prefect-api-token, infracost-api-token
  key('pul- sbp_', HEX, 40),
  key('dp.pt. dp.ct. dp.sa. dp.scim. dp.audit.', ALNUM, 40, 48),
  key('dp.st.', PARTS, 40, 90),
  key('pscale_tkn_ pscale_pw_ pscale_oauth_', PARTS, 32, 64),
  key('pnu_', ALNUM, 36),
  key('ico-', ALNUM, 32),
  // Supabase: personal tokens, and secret keys since 2025
  key('sb_secret_', URL64, 30, 60),
  // Neon: API keys and passwords; Xata, Aiven, CockroachDB, MongoDB Atlas, Confluent; gitleaks: clickhouse-cloud-api-secret-key
  key('napi_', ALNUM, 60, 80),
  key('npg_', ALNUM, 11, 24),
  key('xau_', ALNUM, 20, 64, 'issued'),
  key('AVNS_', URL64, 15, 30),
  key('CCDB1_', WORD, 50, 80),
  key('mdb_sa_sk_', URL64, 36, 48),
  key('cflt', BASE64, 50, 72, 'issued'),
  key('4b1d', ALNUM, 38, 38, 'issued'),
  key('rnd_', ALNUM, 28, 40, 'mixed'),
  // trufflehog: tailscale; gitleaks: databricks-api-token, defined-networking-api-token, openshift-user-token
  key('tskey-', URL64, 24, 90, 'mixed'),
  key('dapi', HEX, 32, 32),
  key('dnkey-', URL64, 79),
  // gitleaks: 1password-service-account-token, 1password-secret-key, age-secret-key
  key('ops_eyJ', BASE64, 100, LONG * 2),
  key('A3-', URL64, 36, 37, 'issued'),
  key('AGE-SECRET-KEY-1', ALNUM, 58),
  // gitleaks: scalingo-api-token, settlemint-*, harness-api-key, octopus-deploy-api-key
  key('tk-us-', URL64, 48),
  key('pat. sat.', PARTS, 68, 68, 'issued'),
  key('API-', ALNUM, 26, 26, 'issued'),
]
