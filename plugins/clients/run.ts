import { basename } from 'node:path'
import { type Command, directTo, GuardError, type Input, type Io, newId } from 'guard-gateway/core'
import { runChild } from './child.ts'
import { modelFlag, nameFlag, sessionFlag, textFlag } from './flags.ts'
import type { ClientsOptions } from './options.ts'
import { startOwn } from './own-gateway.ts'
import type { Launch, Profile } from './profile.ts'
import { profileOf, profiles } from './profiles/index.ts'
import { projectName } from './project-name.ts'
import { headerLines, labels, type Setting } from './setting.ts'
import { sessionsSince, summaryOf } from './summary.ts'

/** `guard run`: starts one agent with what points it at the gateway; nothing is left behind. */
export const runAgent = (options: ClientsOptions): Command => ({
  id: 'run',
  args: '[-- command...]',
  summary: 'start one agent through the gateway; nothing is left behind',
  options: {
    '--project <id>': 'project of its requests; the name in package.json, or of the folder, if absent',
    '--agent <id>': "its id; the client's name if absent",
    '--session <id>': 'one session for all its requests; "new" makes an id',
    '--mode <mode>': 'shadow or enforce, where server.allow_mode_header is on',
    '--model <id>': 'the model that it asks for',
    '--as <client>': 'treat the command as this client',
    '--start': 'start a gateway for as long as the agent runs, if none answers',
  },
  choices: { '--mode': ['shadow', 'enforce'], '--as': profiles.map(({ id }) => id) },
  example: 'guard run --project demo -- claude -p "fix the tests"',
  run: (input, io) => run(options, input, io),
})

const run = async (options: ClientsOptions, input: Input, io: Io): Promise<number> => {
  const [command, ...args] = input.rest
  if (!command)
    throw new GuardError('USAGE', '"guard run" needs a command behind "--", for example: guard run -- claude')
  const profile = profileFor(command, textFlag(input, 'as'))
  const launch = launchOf(profile)
  const wanted = await settingOf(options, profile, input, io)
  const { address, stop } = await gatewayFor(options, input)
  const setting = { ...wanted, address }
  const since = Date.now()
  try {
    const { env, flags, key_variables, header_variables = [] } = launch(setting)
    if (setting.session !== undefined) io.err.write(`guard: session ${setting.session}\n`)
    const keys = Object.fromEntries(key_variables.map((name) => [name, options.gateway_key]))
    const ours = headerLines(labels(setting, profile.id))
    const headers = header_variables.map((name) => [name, io.env[name] ? `${io.env[name]}\n${ours}` : ours])
    const code = await runChild({
      command,
      args: [...flags, ...args],
      // an agent that knew the approver key could free itself
      env: {
        ...io.env,
        ...directTo(address, io.env),
        ...env,
        ...keys,
        ...Object.fromEntries(headers),
        GUARD_APPROVER_KEY: undefined,
      },
      cwd: io.cwd,
    })
    await tell(setting, profile, since, io)
    return code
  } finally {
    await stop?.()
  }
}

/** Throws USAGE where a client is named that nobody knows. */
const profileFor = (command: string, named: string | undefined): Profile => {
  if (named === undefined) return profileOf(basename(command).replace(/\.(?:cmd|exe|ps1)$/i, ''))
  const known = profiles.map(({ id }) => id)
  if (known.includes(named)) return profileOf(named)
  throw new GuardError('USAGE', `There is no client "${named}"; --as takes ${known.join(', ')}.`, { known })
}

/** Throws USAGE for a client that environment and flags cannot point anywhere. */
const launchOf = (profile: Profile): ((setting: Setting) => Launch) => {
  if (profile.launch !== undefined) return profile.launch
  const why = profile.impossible ?? 'It keeps its provider in files of its own.'
  const way = profile.impossible === undefined ? ` Use "guard setup ${profile.id} --model <id>".` : ''
  throw new GuardError('USAGE', `${profile.title} cannot be started this way. ${why}${way}`)
}

const settingOf = async (options: ClientsOptions, profile: Profile, input: Input, io: Io): Promise<Setting> => {
  const session = sessionFlag(input)
  const mode = modeOf(options, input, io)
  return {
    address: options.address,
    project: nameFlag(input, 'project') ?? (await projectName(io.cwd)),
    agent: nameFlag(input, 'agent') ?? profile.id,
    model: modelFlag(input),
    ...(session === undefined ? {} : { session: session === 'new' ? newId('ses_', Date.now()) : session }),
    ...(mode === undefined ? {} : { mode }),
    guard: options.guard,
    config: options.config,
    folder: '',
    keyed: false,
    passthrough: undefined,
    statusline: false,
  }
}

const modeOf = (options: ClientsOptions, input: Input, io: Io): string | undefined => {
  const mode = textFlag(input, 'mode')
  if (mode === undefined) return undefined
  if (mode !== 'shadow' && mode !== 'enforce')
    throw new GuardError('USAGE', `--mode takes shadow or enforce, not "${mode}".`)
  if (!options.allow_mode_header)
    io.err.write('guard: --mode has no effect, since server.allow_mode_header is off in the configuration\n')
  return mode
}

/** A gateway that answers, and what ends it if it was started for this. Throws GATEWAY_NOT_RUNNING, and UNAUTHORIZED where one answers that does not take the key. */
const gatewayFor = async (
  options: ClientsOptions,
  input: Input,
): Promise<{ readonly address: string; readonly stop?: () => Promise<void> }> => {
  try {
    return { address: await options.running(', or add --start') }
  } catch (error) {
    const isDown = error instanceof GuardError && error.code === 'GATEWAY_NOT_RUNNING'
    if (!isDown || input.options.start !== true) throw error
    return { address: options.address, stop: await startOwn(options) }
  }
}

/** On a terminal, what the agent did. */
const tell = async ({ address, agent, session }: Setting, profile: Profile, since: number, io: Io): Promise<void> => {
  if (!('isTTY' in io.err) || io.err.isTTY !== true) return
  const where = session === undefined ? { agent_id: agent ?? profile.id } : { external_id: session }
  const line = summaryOf(await sessionsSince(address, where, since).catch(() => []), address)
  if (line !== '') io.err.write(`${line}\n`)
}
