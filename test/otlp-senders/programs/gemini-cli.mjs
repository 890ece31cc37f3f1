import { runAgent } from './cli.mjs'
import { PROMPT } from './work.mjs'

const settings = {
  security: { auth: { selectedType: 'gemini-api-key' } },
  telemetry: {
    enabled: true,
    traces: true,
    target: 'local',
    otlpEndpoint: process.env.CAPTURE_URL,
    otlpProtocol: 'http',
    logPrompts: true,
  },
}
await runAgent('gemini', ['-p', PROMPT, '--yolo', '--model', 'gemini-3-pro'], {
  files: { '.gemini/settings.json': JSON.stringify(settings) },
  env: { GEMINI_CLI_NO_RELAUNCH: 'true', GEMINI_CLI_TRUST_WORKSPACE: 'true' },
})
