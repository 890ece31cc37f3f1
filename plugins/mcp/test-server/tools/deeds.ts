import { object, stringOf, type TestTool, type ToolResult, text } from '../tool.ts'

const string = { type: 'string' }

const missing = (path: string): ToolResult => ({ ...text(`There is no file ${path}.`), isError: true })

/** Tools with the names and arguments that agents use every day; files are kept in memory, and nothing else is really done. */
export const deedTools = (): readonly TestTool[] => {
  const files = new Map<string, string>([['README.md', '# Test server\n']])
  const told = (
    name: string,
    description: string,
    args: readonly string[],
    say: (values: readonly string[]) => string,
  ) => ({
    name,
    description,
    inputSchema: object(Object.fromEntries(args.map((arg) => [arg, string]))),
    call: (given: Readonly<Record<string, unknown>>) => text(say(args.map((arg) => stringOf(given, arg)))),
  })
  return [
    {
      name: 'read_file',
      description: 'Reads a file',
      inputSchema: object({ path: string }),
      call(args) {
        const path = stringOf(args, 'path')
        const content = files.get(path)
        return content === undefined ? missing(path) : text(content)
      },
    },
    {
      name: 'write_file',
      description: 'Writes a file',
      inputSchema: object({ path: string, content: string }),
      call(args) {
        const path = stringOf(args, 'path')
        const content = stringOf(args, 'content')
        files.set(path, content)
        return text(`Wrote ${Buffer.byteLength(content)} bytes to ${path}.`)
      },
    },
    {
      name: 'delete_file',
      description: 'Deletes a file',
      inputSchema: object({ path: string }),
      call(args) {
        const path = stringOf(args, 'path')
        return files.delete(path) ? text(`Deleted ${path}.`) : missing(path)
      },
    },
    told('run_command', 'Runs a shell command', ['command'], ([command]) => `Would run: ${command}`),
    told('http_request', 'Requests an address', ['url'], ([url]) => `Would request: ${url}`),
    told('query', 'Asks a database', ['sql'], ([sql]) => `Would ask: ${sql}`),
    told(
      'send_email',
      'Sends a message',
      ['to', 'subject', 'body'],
      ([to, subject]) => `Would send "${subject}" to ${to}.`,
    ),
    told('web_search', 'Searches the web', ['query'], ([query]) => `Would search: ${query}`),
  ]
}
