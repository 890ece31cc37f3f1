import { fileURLToPath } from 'node:url'
import type { Node, Parser } from 'web-tree-sitter'

/** Time limit per text, in milliseconds. */
const TIMEOUT_MS = 2_000

let parser: Parser | undefined

/** Loads Bash's grammar, which `outline` needs. */
export const loadGrammar = async (): Promise<void> => {
  if (parser !== undefined) return
  const { Language, Parser: TreeParser } = await import('web-tree-sitter')
  await TreeParser.init()
  const wasm = fileURLToPath(import.meta.resolve('tree-sitter-bash/tree-sitter-bash.wasm'))
  const loading = new TreeParser()
  loading.setLanguage(await Language.load(wasm))
  parser = loading
}

/** Syntax nodes with a value that is known before the text runs. */
const KNOWN = new Set([
  ...[
    'program',
    'list',
    'pipeline',
    'command',
    'command_name',
    'word',
    'number',
    'string',
    'string_content',
    'raw_string',
  ],
  ...['concatenation', 'comment', 'negated_command', 'subshell', 'compound_statement', 'redirected_statement'],
  ...['file_redirect', 'file_descriptor', 'simple_expansion', 'expansion', 'variable_name'],
  ...['command_substitution', 'heredoc_redirect', 'heredoc_start', 'heredoc_body', 'heredoc_end'],
])

/** Positions in a text, in order. */
export interface Outline {
  /** `start:end` of every word of a command and every target of a redirection. */
  readonly words: readonly string[]
  /** Start of the first word of each command. */
  readonly commands: readonly number[]
}

/** Words and commands by the grammar. Undefined if the text has dynamic parts. */
export const outline = (text: string): Outline | undefined => {
  if (parser === undefined) throw new Error('The grammar is not loaded.')
  const until = performance.now() + TIMEOUT_MS
  const tree = parser.parse(text, null, { progressCallback: () => performance.now() > until })
  if (tree === null) {
    parser.reset()
    return undefined
  }
  try {
    return tree.rootNode.hasError ? undefined : collected(tree.rootNode)
  } finally {
    tree.delete()
  }
}

const NO_WORD = new Set(['file_redirect', 'heredoc_redirect', 'file_descriptor', 'comment'])

/** Allowed on the line of a here-document's start, except further words of its command. */
const NO_ARGUMENT = new Set([
  ...['file_redirect', 'file_descriptor', 'heredoc_start', 'heredoc_body', 'heredoc_end', 'heredoc_redirect'],
  ...[
    'pipeline',
    'list',
    'command',
    'redirected_statement',
    'subshell',
    'compound_statement',
    'negated_command',
    'comment',
  ],
])

const isKnown = (node: Node): boolean => !node.isMissing && (!node.isNamed || KNOWN.has(node.type))

const childrenOf = (node: Node): Node[] => node.children.filter((child): child is Node => child !== null)

const isWord = ({ isNamed, type }: Node): boolean => isNamed && !NO_WORD.has(type)

const collected = (root: Node): Outline | undefined => {
  const words: Node[] = []
  const commands: number[] = []
  const ahead: Node[] = [root]
  for (let node = ahead.pop(); node !== undefined; node = ahead.pop()) {
    if (!isKnown(node)) return undefined
    const children = childrenOf(node)
    ahead.push(...children)
    if (node.type === 'command_name') commands.push(node.startIndex)
    else if (node.type === 'command' || node.type === 'file_redirect') words.push(...children.filter(isWord))
    else if (node.type === 'heredoc_redirect')
      words.push(...children.filter(({ isNamed, type }) => isNamed && !NO_ARGUMENT.has(type)))
  }
  words.sort((left, right) => left.startIndex - right.startIndex)
  return {
    words: words.map(({ startIndex, endIndex }) => `${startIndex}:${endIndex}`),
    commands: commands.sort((left, right) => left - right),
  }
}
