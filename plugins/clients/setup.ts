import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { GuardError } from 'guard-gateway/core'
import { APPROVER_FLAG } from '#lib/approver'
import type { Command, Input, Io } from '#lib/command'
import { keyFile, storeAgentKey } from './agent-key.ts'
import { modelFlag, nameFlag, textFlag } from './flags.ts'
import type { ClientsOptions } from './options.ts'
import { servedStyle } from './passthrough-login.ts'
import { MARK, type Profile } from './profile.ts'
import type { ProfileSettings } from './profile-settings.ts'
import { profiles } from './profiles/index.ts'
import { writeProfile } from './write-profile.ts'

/** `guard setup`: writes connection profiles into a folder. It never edits the configuration of a client. */
export const setup = (options: ClientsOptions): Command => ({
  id: 'setup',
  args: '[...clients]',
  summary: 'write connection profiles for agents; their own configuration is never touched',
  options: {
    '--project <id>': 'project that their requests are counted under',
    '--agent <id>': 'register this agent, and give the clients a key of its own',
    ...APPROVER_FLAG,
    '--model <id>': 'model that they ask for, where a profile must name one',
    '--dir <folder>': 'where profiles are written; profiles if absent',
    '--enforce': 'tell what each client needs to stop well when a request is blocked',
    '--passthrough': 'let clients keep their own login, for upstreams with auth: passthrough',
    '--statusline': 'show what Guard sees in the status line of Claude Code',
    '--print': 'print the profiles and write nothing',
  },
  choices: { clients: profiles.map(({ id }) => id) },
  example: ['guard setup claude-code', 'guard setup claude-code codex --project demo'],
  run: (input, io) => run(options, input, io),
})

const run = async (options: ClientsOptions, input: Input, io: Io): Promise<number> => {
  const chosen = chosenProfiles(input)
  const baseSetting = settingOf(options, input, io)
  const print = input.options.print === true
  const results: SetupResult[] = []
  if (baseSetting.keyed && !print)
    await options.asking((ask) => storeAgentKey(ask, baseSetting.folder, baseSetting.agent ?? '', baseSetting.project))
  const setting = { ...baseSetting, client_key: await profileKey(baseSetting) }
  try {
    for (const profile of chosen) results.push(await prepare(profile, setting, print))
  } finally {
    // files written before an error are reported too
    if (input.options.json === true) io.out.write(`${JSON.stringify({ folder: setting.folder, clients: results })}\n`)
    else for (const one of results) io.out.write(`${resultText(one, input.options.enforce === true)}\n`)
  }
  return results.some(({ state }) => state === 'exists') ? 1 : 0
}

/** Key in a profile: the agent's own if it has one. */
const profileKey = async ({ client_key, keyed, folder, agent }: ProfileSettings): Promise<string> => {
  if (!keyed) return client_key
  const stored = await readFile(keyFile(folder, agent ?? ''), 'utf8').catch(() => `the key of ${agent}`)
  return stored.trim()
}

interface SetupResult {
  readonly client: string
  readonly title: string
  readonly state: 'written' | 'unchanged' | 'printed' | 'exists' | 'skipped'
  /** Why the client was skipped or its file left unchanged. */
  readonly reason?: string
  readonly files: readonly { readonly path: string; readonly text?: string }[]
  readonly use: readonly string[]
  readonly undo: string
  readonly note?: string
  readonly session: string
  readonly on_block: string
  readonly block_status?: readonly [agents: string, status: number]
}

const chosenProfiles = ({ args }: Input): readonly Profile[] => {
  if (args.length === 0) return profiles
  return args.map((name) => {
    const profile = profiles.find(({ id, commands }) => id === name || commands.includes(name))
    if (profile === undefined)
      throw new GuardError(
        'USAGE',
        `There is no client "${name}"; there is ${profiles.map(({ id }) => id).join(', ')}.`,
      )
    return profile
  })
}

const settingOf = (options: ClientsOptions, input: Input, io: Io): ProfileSettings => {
  const { options: flags } = input
  const agent = nameFlag(input, 'agent')
  return {
    address: options.address,
    project: nameFlag(input, 'project'),
    agent,
    model: modelFlag(input),
    guard: options.guard,
    config: options.config,
    folder: resolve(io.cwd, textFlag(input, 'dir') ?? 'profiles'),
    keyed: agent !== undefined,
    sendsOwnLogin: () => flags.passthrough === true,
    styleOf: (styles) => servedStyle(options.upstreams, styles, modelFlag(input)),
    client_key: options.gateway_key,
    home: '',
    has: () => false,
    statusline: flags.statusline === true,
  }
}

const prepare = async (profile: Profile, setting: ProfileSettings, print: boolean): Promise<SetupResult> => {
  const { id: client, title, session, on_block, block_status, impossible } = profile
  const about = { client, title, session, on_block, ...(block_status === undefined ? {} : { block_status }) }
  const skipped = { ...about, state: 'skipped', files: [], use: [], undo: '' } as const
  if (impossible !== undefined) return { ...skipped, reason: `Nothing was written: ${impossible}` }
  if (profile.needs_model === true && setting.model === undefined)
    return { ...skipped, reason: 'Its profile names a model: run again with --model <id>.' }
  const mark = `${MARK}, ${profile.tested_with === undefined ? 'by its documentation' : `tried with ${profile.tested_with}`}`
  const files = profile.files(setting).map(({ path, text }) => ({ path, text: text.replace(MARK, mark) }))
  const note = profileNote(profile, setting)
  const usage = { use: profile.use(setting), undo: profile.undo(setting), ...(note === undefined ? {} : { note }) }
  if (print) return { ...about, ...usage, state: 'printed', files }
  try {
    const states = await Promise.all(files.map((file) => writeProfile(setting.folder, file)))
    const state = states.includes('written') ? 'written' : 'unchanged'
    return { ...about, ...usage, state, files: files.map(({ path }) => ({ path })) }
  } catch (error) {
    if (!(error instanceof GuardError) || error.code !== 'PROFILE_EXISTS') throw error
    return { ...about, ...usage, state: 'exists', reason: error.message, files: [] }
  }
}

const profileNote = (profile: Profile, setting: ProfileSettings): string | undefined => {
  const isIgnored = setting.sendsOwnLogin(profile.style) && profile.supports_own_login !== true
  return isIgnored
    ? '--passthrough changes nothing here: it shows one key, the gateway key, so its upstream needs an api_key and no auth: passthrough'
    : profile.note?.(setting)
}

const resultText = (results: SetupResult, enforce: boolean): string => {
  const { title, client, state, reason, files, use, undo, note, session, on_block, block_status } = results
  const lines = [`${title} (${client}): ${state}`]
  if (reason !== undefined) lines.push(`  ${reason}`)
  for (const { path, text } of files) {
    lines.push(`  ${path}`)
    if (text !== undefined)
      lines.push(
        ...text
          .trimEnd()
          .split('\n')
          .map((line) => `    ${line}`),
      )
  }
  if (use.length > 0)
    lines.push(
      ...use.map((line) => `  use:      ${line}`),
      `  undo:     ${undo}`,
      ...(note === undefined ? [] : [`  note:     ${note}`]),
      `  sessions: ${session}`,
      `  blocked:  ${on_block}`,
    )
  if (enforce && block_status !== undefined && use.length > 0)
    lines.push(
      `  in guard-config.yml:  server: { block_status_override: { "${block_status[0]}": ${block_status[1]} } }`,
    )
  return `${lines.join('\n')}\n`
}
