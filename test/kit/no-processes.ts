import { parserProcess } from '#lib/parser-process'

/** Does work while no process of parsers runs or can be started. */
export const withoutProcesses = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  for (const pid of parserProcess.pids) process.kill(pid, 'SIGKILL')
  while (parserProcess.pids.length > 0) await new Promise(setImmediate)
  const { execPath } = process
  process.execPath = '/nowhere/node'
  try {
    return await work()
  } finally {
    process.execPath = execPath
  }
}
