import { join } from 'node:path'
import { MARK, type Profile } from '../profile.ts'
import { keyCommand, type Setting, shellWord } from '../setting.ts'

const file = 'env'

const addresses = ({ address }: Setting) => ({
  OPENAI_BASE_URL: `${address}/v1`,
  OPENAI_API_BASE: `${address}/v1`,
  ANTHROPIC_BASE_URL: address,
})

/** The SDKs, and whatever reads the same variables. */
export const sdks: Profile = {
  id: 'sdks',
  title: 'openai, @anthropic-ai/sdk and what is built on them',
  tested_with: 'openai 7.55, @anthropic-ai/sdk 1.11',
  style: 'chat_completions',
  commands: [],
  files: (setting) => [
    {
      path: file,
      text: [
        `# ${MARK}`,
        `GUARD_GATEWAY_KEY="\${GUARD_GATEWAY_KEY:-$(${keyCommand(setting, 'sdks')})}"`,
        ...Object.entries(addresses(setting)).map(([name, value]) => `${name}=${value}`),
        'OPENAI_API_KEY="$GUARD_GATEWAY_KEY"',
        'ANTHROPIC_AUTH_TOKEN="$GUARD_GATEWAY_KEY"',
        '',
      ].join('\n'),
    },
  ],
  use: ({ folder }) => [
    `set -a; . ${shellWord(join(folder, file))}; set +a`,
    'npm start   # or whatever calls a model',
  ],
  undo: () => 'open a new shell',
  session: 'nothing; send x-guard-session-id for each task',
  on_block: "openai and @anthropic-ai/sdk stop after one request, the message is the error's text",
  launch: (setting) => ({
    key_variables: ['GUARD_GATEWAY_KEY', 'OPENAI_API_KEY', 'ANTHROPIC_AUTH_TOKEN'],
    header_variables: ['OPENAI_CUSTOM_HEADERS', 'ANTHROPIC_CUSTOM_HEADERS'],
    env: addresses(setting),
    flags: [],
  }),
}
