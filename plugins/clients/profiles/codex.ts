import { join } from 'node:path'
import { MARK, type Profile } from '../profile.ts'
import { keyCommand, labels, type Setting, shellWord } from '../setting.ts'

/** A TOML basic string; JSON escapes the same characters in the same way. */
const quoted = (text: string): string => JSON.stringify(text)

const provider = (setting: Setting): Readonly<Record<string, string>> => {
  const headers = Object.entries(labels(setting, 'codex')).map(([name, value]) => `${quoted(name)} = ${quoted(value)}`)
  return {
    name: quoted('Guard Gateway'),
    base_url: quoted(`${setting.address}/v1`),
    wire_api: quoted('responses'),
    env_key: quoted('GUARD_GATEWAY_KEY'),
    http_headers: `{ ${headers.join(', ')} }`,
  }
}

const file = 'codex/guard.config.toml'

export const codex: Profile = {
  id: 'codex',
  title: 'Codex CLI',
  tested_with: '0.169.0',
  style: 'responses',
  commands: ['codex'],
  files: (setting) => [
    {
      path: file,
      text: [
        `# ${MARK}`,
        ...(setting.model === undefined ? [] : [`model = ${quoted(setting.model)}`]),
        'model_provider = "guard"',
        '',
        '[model_providers.guard]',
        ...Object.entries(provider(setting)).map(([name, value]) => `${name} = ${value}`),
        '',
      ].join('\n'),
    },
  ],
  use: (setting) => [
    `cp ${shellWord(join(setting.folder, file))} "\${CODEX_HOME:-$HOME/.codex}/guard.config.toml"`,
    `GUARD_GATEWAY_KEY="$(${keyCommand(setting, 'codex')})" codex --profile guard`,
  ],
  undo: () => `rm "\${CODEX_HOME:-$HOME/.codex}/guard.config.toml"`,
  session: 'session-id and thread-id headers, prompt_cache_key in the body',
  on_block: 'stops after one request; a 429 shows the request id and not the message',
  block_status: ['codex*', 400],
  launch: (setting) => ({
    key_variables: ['GUARD_GATEWAY_KEY'],
    env: {},
    flags: [
      '-c',
      `model_providers.guard={ ${Object.entries(provider(setting))
        .map(([name, value]) => `${name} = ${value}`)
        .join(', ')} }`,
      '-c',
      'model_provider="guard"',
      ...(setting.model === undefined ? [] : ['-c', `model=${quoted(setting.model)}`]),
    ],
  }),
}
