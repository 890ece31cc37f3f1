import { basename } from 'node:path'
import { type Gateway, GuardError } from 'guard-gateway/core'
import { envFlagNames, missingEnvText, withheldText } from 'guard-gateway/lib/child-env'
import type { Command, Input, Io } from 'guard-gateway/lib/command'
import { newId } from 'guard-gateway/lib/ids'
import { agentEnv } from './agent-env.ts'
import { runChild } from './child.ts'
import { modelFlag, nameFlag, sessionFlag, textFlag } from './flags.ts'
import type { ClientsOptions } from './options.ts'
import { bringsLogin } from './passthrough-login.ts'
import type { Launch, Profile } from './profile.ts'
import { labels, type ProfileSettings } from './profile-settings.ts'
import { profileOf, profiles } from './profiles/index.ts'
import { projectName } from './project-name.ts'
import { type AgentRun, runTraffic, warningOf } from './run-traffic.ts'
import { summaryOf } from './summary.ts'
import { startTemporaryGateway } from './temporary-gateway.ts'

/** `guard run`: starts one agent with what points it at the gateway; nothing is left behind. */
export const runAgent = (gateway: Gateway, options: ClientsOptions): Command => ({
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
    '--env <name...>': 'give it a variable of the environment that holds a key',
    '--start': 'start a gateway for as long as the agent runs, if none answers',
  },
  choices: { '--mode': ['shadow', 'enforce'], '--as': profiles.map(({ id }) => id) },
  example: 'guard run --project demo -- claude -p "fix the tests"',
  run: (input, io) => run(gateway, options, input, io),
})

const run = async (gateway: Gateway, options: ClientsOptions, input: Input, io: Io): Promise<number> => {
  const [command, ...args] = input.rest
  if (!command)
    throw new GuardError('USAGE', '"guard run" needs a command behind "--", for example: guard run -- claude')
  const profile = profileFor(command, textFlag(input, 'as'))
  const launchWith = launchOf(profile)
  const wanted = { ...(await settingOf(options, profile, input, io)), ...loginsOf(gateway, options, input, io) }
  const { address, stop } = await gatewayFor(options, input)
  const setting = { ...wanted, address, run_id: newId('run_', Date.now()) }
  const since = Date.now()
  try {
    const launch = launchWith(setting)
    if (setting.session !== undefined) io.err.write(`guard: session ${setting.session}\n`)
    const given = envFlagNames(input.options.env)
    const { env, withheld } = agentEnv(io.env, gateway, {
      address,
      launch,
      gateway_key: options.gateway_key,
      labels: labels(setting, profile.id),
      given,
    })
    const kept = withheldText('its', withheld, (name) => `"${options.calledAs} run --env ${name} …"`)
    for (const line of [missingEnvText(given, io.env), kept, aroundText(launch, io.env)])
      if (line !== '') io.err.write(`guard: ${line}\n`)
    const code = await runChild({ command, args: [...launch.flags, ...args], env, cwd: io.cwd })
    const { project, session, agent = profile.id } = setting
    const is_labelled = launch.is_labelled === true
    await tell({ address, id: setting.run_id, agent, project, session, since, is_labelled }, options, io)
    return code
  } finally {
    await stop?.()
  }
}

/** Which variables of the user's would have led the agent around the gateway; empty for none. */
const aroundText = ({ around = [] }: Launch, env: Io['env']): string => {
  const set = around.filter((name) => env[name])
  return set.length === 0 ? '' : `${set.join(', ')} is off in this run: with it, requests would go around the gateway`
}

/** Throws USAGE where a client is named that nobody knows. */
const profileFor = (command: string, named: string | undefined): Profile => {
  if (named === undefined) return profileOf(basename(command).replace(/\.(?:cmd|exe|ps1)$/i, ''))
  const known = profiles.map(({ id }) => id)
  if (known.includes(named)) return profileOf(named)
  throw new GuardError('USAGE', `There is no client "${named}"; --as takes ${known.join(', ')}.`, { known })
}

/** Throws USAGE for a client that environment and flags cannot point anywhere. */
const launchOf = (profile: Profile): ((setting: ProfileSettings) => Launch) => {
  if (profile.launch !== undefined) return profile.launch
  const why = profile.impossible ?? 'It keeps its provider in files of its own.'
  const way = profile.impossible === undefined ? ` Use "guard setup ${profile.id} --model <id>".` : ''
  throw new GuardError('USAGE', `${profile.title} cannot be started this way. ${why}${way}`)
}

/** Which clients show a login of the user's own, as the upstreams are configured, and what they find of it. */
const loginsOf = ({ secrets }: Gateway, { upstreams }: ClientsOptions, input: Input, { env }: Io) => {
  const model = modelFlag(input)
  return {
    bringsLogin: (style: string) => bringsLogin(upstreams, style, model),
    has: (name: string) => Boolean(env[name]) && !secrets.holds(env[name] ?? ''),
  }
}

const settingOf = async (
  options: ClientsOptions,
  profile: Profile,
  input: Input,
  io: Io,
): Promise<Omit<ProfileSettings, 'bringsLogin' | 'has' | 'run_id'>> => {
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
    shown_key: '',
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
    return { address: options.address, stop: await startTemporaryGateway(options) }
  }
}

/** What the agent did, on a terminal; that nothing of it came through, everywhere. */
const tell = async (run: AgentRun, { calledAs }: ClientsOptions, io: Io): Promise<void> => {
  const { address } = run
  const came = await runTraffic(run)
  const warning = warningOf(came, address, calledAs)
  if (warning !== '') io.err.write(`${warning}\n`)
  else if ('sessions' in came && 'isTTY' in io.err && io.err.isTTY === true)
    io.err.write(`${summaryOf(came.sessions, address)}\n`)
}
