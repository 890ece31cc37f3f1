import { describe, it } from 'node:test'
import type { ProfileSettings } from '../../../plugins/clients/profile-settings.ts'
import { profiles } from '../../../plugins/clients/profiles/index.ts'
import { assertRecorded, linesOf } from '../../kit/recorded.ts'

const plain: ProfileSettings = {
  address: 'http://127.0.0.1:8787',
  project: 'shop',
  agent: undefined,
  model: 'm-1',
  guard: ['node', '/opt/guard/bin.js'],
  config: '/w/guard-config.yml',
  folder: '/w/profiles',
  keyed: false,
  sendsOwnLogin: () => false,
  styleOf: ([first = 'messages']) => first,
  client_key: 'the-key',
  home: '/nowhere',
  has: () => false,
  statusline: false,
}
const full: ProfileSettings = {
  ...plain,
  agent: 'coder',
  model: undefined,
  session: 'chat one',
  run_id: 'run_1',
  mode: 'shadow',
  keyed: true,
  sendsOwnLogin: () => true,
  styleOf: (styles) => styles.at(-1) ?? 'messages',
  has: () => true,
  statusline: true,
}

/** All that a profile says and does with some settings, line by line. */
const said = (setting: ProfileSettings): readonly string[] =>
  profiles.flatMap((profile) => {
    const { id, title: _title, ...more } = profile
    const made = {
      files: profile.files(setting),
      use: profile.use(setting),
      undo: profile.undo(setting),
      note: profile.note?.(setting) ?? null,
      launch: profile.launch?.(setting) ?? null,
    }
    return [...linesOf(more, id), ...linesOf(made, id)]
  })

describe('profiles of clients, each as recorded', () => {
  it('with the key of the gateway', () => {
    assertRecorded('client-profiles.txt', said(plain))
  })
  it('with a key, a session and a login of its own', () => {
    assertRecorded('client-profiles-labelled.txt', said(full))
  })
})
