import type { Input, Io } from '#lib/command'
import { writeJson } from '#lib/json'
import { hint, terminalWidth } from '#lib/terminal'
import { terminalLine } from '#lib/text'
import type { Simulation } from './simulation.ts'
import { simulationLines } from './text.ts'

/** Prints what rules would have done, and what is not known. */
export const printSimulation = (simulation: Simulation, input: Input, io: Io): void => {
  if (input.options.json === true) io.out.write(`${writeJson(simulation)}\n`)
  else for (const line of simulationLines(simulation, terminalWidth(io.out))) io.out.write(`${line}\n`)
  for (const { message } of simulation.not_simulated) hint(terminalLine(message), input, io)
  if (simulation.truncated) hint('There is more: raise --limit, or say --since and --until.', input, io)
}
