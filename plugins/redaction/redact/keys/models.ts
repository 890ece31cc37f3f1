import { ALNUM, BASE64, HEX, OPAQUE, PARTS, URL64, WORD } from '../alphabet.ts'
import { type KeyRule, key, LONG } from './rule.ts'

/** Keys of model providers and of what agents call beside them. Source: the vendor's documentation where no other is named. */
export const modelKeys: readonly KeyRule[] = [
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
  key('pplx-', ALNUM, 40, 64),
  key('csk-', ALNUM, 40, 64),
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
  key('crsr_ key_', HEX, 64),
  key('ctx7sk-', URL64, 36, 36, 'uuid'),
  key('dtn_', HEX, 64),
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
  key('sk', ALNUM, 80, 200, 'issued'),
  key('salad_cloud_', WORD, 9, 255, 'issued'),
  key('fal_ fal-', OPAQUE, 32, 128, 'issued'),
]
