import { join } from 'node:path'
import { MARK, type Profile, type ProfileFile } from '../profile.ts'
import { keyCommand, type ProfileSettings, shellWord } from '../profile-settings.ts'

/** A file of variables for a client that reads nothing else; `key` names those that the key is in. */
export const variablesFile = (
  setting: ProfileSettings,
  client: string,
  variables: Readonly<Record<string, string>>,
  key: readonly string[],
): readonly ProfileFile[] => [
  {
    path: pathOf(client),
    text: [
      `# ${MARK}`,
      ...Object.entries(variables).map(([name, value]) => `${name}=${shellWord(value)}`),
      `GUARD_GATEWAY_KEY="$(${keyCommand(setting, client)})"`,
      ...key.map((name) => `${name}="$GUARD_GATEWAY_KEY"`),
      '',
    ].join('\n'),
  },
]

/** How it is used, and how that ends. */
export const usedVariables = (client: string, command: string): Pick<Profile, 'use' | 'undo'> => ({
  use: ({ folder }) => [`set -a; . ${shellWord(join(folder, pathOf(client)))}; set +a`, command],
  undo: () => 'open a new shell',
})

const pathOf = (client: string): string => `${client}/env`
