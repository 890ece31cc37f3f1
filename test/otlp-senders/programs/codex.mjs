import { runAgent } from './cli.mjs'
import { PROMPT } from './work.mjs'

const config = `
model = "gpt-5.5"
model_provider = "here"
[model_providers.here]
name = "here"
base_url = "${process.env.PROVIDER_URL}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
[otel]
environment = "test"
log_user_prompt = true
trace_exporter = { otlp-http = { endpoint = "${process.env.CAPTURE_URL}/v1/traces", protocol = "binary" } }
`
await runAgent('codex', ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', PROMPT], {
  files: { '.codex/config.toml': config },
})
