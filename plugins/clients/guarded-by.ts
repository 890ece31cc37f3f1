import { ENFORCE_RECOMMENDED } from '#lib/budget'
import { jsonObjectOf, listOf } from '#lib/json'
import { DEFAULT_PROJECT } from '#lib/session'
import { terminalLine } from '#lib/text'
import { fetchGateway } from './summary.ts'

/** Whose policy judges a run. */
interface Guarded {
  /** Address of the gateway. */
  readonly address: string
  readonly project: string
  /** Mode that each request of the run names. */
  readonly mode: string | undefined
  /** All requests of the run carry its labels. */
  readonly is_labelled: boolean
  /** How this program is called. */
  readonly calledAs: string
}

const modes: Readonly<Record<string, string>> = {
  shadow: 'shadow: what matches a rule is flagged, nothing is stopped',
  enforce: 'enforce: what matches a blocking rule is refused',
}

/** Lines that name the project of a run and its mode, and warn where another project is enforced and this one is not. Never rejects. */
export const guardedBy = async (run: Guarded): Promise<readonly string[]> => {
  const { address, project, mode, is_labelled } = run
  const name = `project ${terminalLine(project)}`
  try {
    const policy = await read(`${address}/api/policies/${encodeURIComponent(project)}`)
    const inForce = mode ?? String(policy.mode_in_force)
    const meaning = modes[inForce]
    if (meaning === undefined) throw new Error('the gateway answered no policy')
    const others = policy.source === 'own' || inForce === 'shadow' ? await otherPolicies(address, project) : []
    const line = `${name}, ${meaning}${originOf(policy.source, mode)}`
    return [
      line,
      ...(is_labelled || mode !== undefined ? [] : unlabelled(others, inForce)),
      ...warning(run, inForce, others),
    ]
  } catch (error) {
    return [`${name}; its mode is not known: ${terminalLine((error as Error).message)}`]
  }
}

const originOf = (source: unknown, mode: string | undefined): string => {
  if (mode !== undefined) return ', as --mode says'
  return source === 'inherited' ? `, by the policy of project ${DEFAULT_PROJECT}` : ''
}

/** A client that sends no labels is in another project. */
const unlabelled = (others: readonly OtherPolicy[], inForce: string): readonly string[] => {
  const mode = others.find(({ project_id }) => project_id === DEFAULT_PROJECT)?.mode_in_force
  return mode === undefined || mode === inForce
    ? []
    : [`requests without its labels are of project ${DEFAULT_PROJECT}, ${String(mode)}`]
}

const warning = (
  { project, mode, calledAs }: Guarded,
  inForce: string,
  others: readonly OtherPolicy[],
): readonly string[] => {
  const enforced = others.find(({ mode_in_force }) => mode_in_force === 'enforce')
  if (inForce !== 'shadow' || enforced === undefined) return []
  const of = project === DEFAULT_PROJECT ? '' : ` --project ${terminalLine(project)}`
  const remedy = mode === undefined ? `Enforce it: ${calledAs} ${ENFORCE_RECOMMENDED}${of}` : 'Start it without --mode.'
  return [`warning: project ${terminalLine(String(enforced.project_id))} is enforced, this run is not. ${remedy}`]
}

interface OtherPolicy {
  readonly project_id?: unknown
  readonly mode_in_force?: unknown
}

/** Policies of others, that of all projects without one first. */
const otherPolicies = async (address: string, project: string): Promise<readonly OtherPolicy[]> =>
  listOf((await read(`${address}/api/policies?playground=false`)).policies)
    .map(jsonObjectOf)
    .filter(({ project_id }) => project_id !== project)

const read = async (url: string) => {
  const answer = await fetchGateway(url)
  if (!answer.ok) throw new Error(`the gateway answered ${answer.status}`)
  return jsonObjectOf(await answer.json())
}
