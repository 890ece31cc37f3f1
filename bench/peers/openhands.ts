import type { Step, StepResult } from '../quality/trajectory.ts'
import { callKeys, type Peer } from './peer.ts'

const thresholds = { action_observation: 4, action_error: 3, monologue: 3, alternating_pattern: 6, events: 20 }

/** The compared fields of a conversation event. */
type Event =
  | { readonly kind: 'action'; readonly print: string }
  | { readonly kind: 'observation' | 'error'; readonly print: string }
  | { readonly kind: 'message' }

const rule = (id: string, thoughtsCount: boolean): Peer => ({
  id,
  source: 'https://docs.openhands.dev/sdk/guides/agent-stuck-detector, OpenHands/software-agent-sdk stuck_detector.py',
  version: '1c2e6b51',
  thresholds,
  watch() {
    let events: Event[] = []
    return (turn) => {
      events = [...events, ...eventsOf(turn, thoughtsCount)].slice(-thresholds.events)
      const said = ruleFor(events)
      // only events after the last user message count
      if (turn.user !== undefined) events = []
      return said
    }
  },
})

/**
 * OpenHands' stuck detector over the last 20 events: repeated action and observation, repeated errors of one action,
 * messages without action, or two alternating pairs. The first action of a turn includes its thought in the
 * comparison.
 */
export const openhands = rule('openhands', true)

/** The documented variant, which does not compare thoughts. */
export const openhandsActions = rule('openhands_actions', false)

/** A recorded error counts as an error of the agent, in favour of the rule. */
const eventsOf = (turn: Step, thoughtsCount: boolean): Event[] => {
  if (turn.calls.length === 0) return [{ kind: 'message' }]
  const thought = thoughtsCount ? (turn.text ?? '') : ''
  const actions = callKeys(turn).map(
    (key, place): Event => ({ kind: 'action', print: place === 0 ? key + thought : key }),
  )
  const seen = turn.results.map(
    (result): Event => ({ kind: result.error ? 'error' : 'observation', print: printOf(result) }),
  )
  return [...actions, ...seen]
}

const printOf = ({ hash, text }: StepResult): string => hash ?? text ?? ''

const ruleFor = (events: readonly Event[]): string | undefined => {
  const actions = printsOf(events, (kind) => kind === 'action')
  const seen = printsOf(events, (kind) => kind === 'observation' || kind === 'error')
  const { action_observation: pairs, action_error: failures, alternating_pattern: turns } = thresholds
  if (areEqual(actions.slice(0, pairs), pairs, 1) && areEqual(seen.slice(0, pairs), pairs, 1))
    return 'action_observation'
  const errors = seen.slice(0, failures).every((print) => print.startsWith('error '))
  if (errors && seen.length >= failures && areEqual(actions.slice(0, failures), failures, 1)) return 'action_error'
  if (events.slice(-thresholds.monologue).filter(({ kind }) => kind === 'message').length === thresholds.monologue)
    return 'monologue'
  const alternate = areEqual(actions.slice(0, turns), turns, 2) && areEqual(seen.slice(0, turns), turns, 2)
  return alternate ? 'alternating_pattern' : undefined
}

/** Newest event first. */
const printsOf = (events: readonly Event[], wanted: (kind: Event['kind']) => boolean): string[] =>
  events.flatMap((event) => ('print' in event && wanted(event.kind) ? [`${event.kind} ${event.print}`] : [])).reverse()

/** True if the first `count` events each equal the event `apart` positions later. */
const areEqual = (prints: readonly string[], count: number, apart: number): boolean =>
  prints.length === count && prints.every((print, place) => place < apart || print === prints[place - apart])
