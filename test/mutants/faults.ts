/** The small faults that can be planted in a source file. */
import {
  isAwaitExpression,
  isBinaryExpression,
  isBlock,
  isCallExpression,
  isConditionalExpression,
  isExportDeclaration,
  isExpressionStatement,
  isIfStatement,
  isImportDeclaration,
  isInterfaceDeclaration,
  isNumericLiteral,
  isPropertyAssignment,
  isReturnStatement,
  isStringLiteral,
  isTypeAliasDeclaration,
  isTypeNode,
  type Node,
  type SourceFile,
  SyntaxKind,
} from 'typescript/unstable/ast'

type Kind = 'operator' | 'branch' | 'constant' | 'await' | 'statement'

/** Text that takes the place of another one. */
export interface Fault {
  readonly kind: Kind
  readonly start: number
  readonly end: number
  readonly text: string
}

const OPERATORS: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '&&': '||',
  '||': '&&',
  '+': '-',
  '-': '+',
}

const isSkipped = (node: Node): boolean =>
  isTypeNode(node) ||
  isTypeAliasDeclaration(node) ||
  isInterfaceDeclaration(node) ||
  isImportDeclaration(node) ||
  isExportDeclaration(node) ||
  (isCallExpression(node) && node.expression.kind === SyntaxKind.ImportKeyword)

export const faultsIn = (source: SourceFile): readonly Fault[] => {
  const faults: Fault[] = []
  const replace = (kind: Kind, node: Node, text: string): void => {
    faults.push({ kind, start: node.getStart(source), end: node.end, text })
  }
  const visit = (node: Node): void => {
    if (isSkipped(node)) return
    for (const [kind, place, text] of faultsAt(node, source)) replace(kind, place, text)
    node.forEachChild(visit)
  }
  source.forEachChild(visit)
  return faults
}

type Change = readonly [kind: Kind, place: Node, text: string]

const faultsAt = (node: Node, source: SourceFile): readonly Change[] => {
  if (isBinaryExpression(node)) {
    const other = OPERATORS[node.operatorToken.getText(source)]
    return other === undefined ? [] : [['operator', node.operatorToken, other]]
  }
  if (isIfStatement(node)) {
    const canGo = isEarlyReturn(node.thenStatement) && node.elseStatement === undefined
    return [negation(node.expression, source), ...(canGo ? [['branch', node, ';'] as const] : [])]
  }
  if (isConditionalExpression(node)) return [negation(node.condition, source)]
  if (isAwaitExpression(node)) return [['await', node, node.expression.getText(source)]]
  if (isExpressionStatement(node)) return isCall(node.expression) ? [['statement', node, ';']] : []
  return constant(node, source)
}

const isCall = (node: Node): boolean => isCallExpression(isAwaitExpression(node) ? node.expression : node)

const negation = (condition: Node, source: SourceFile): Change => [
  'branch',
  condition,
  `!(${condition.getText(source)})`,
]

const isEarlyReturn = (node: Node): boolean =>
  isReturnStatement(node) ||
  (isBlock(node) && node.statements.length === 1 && isEarlyReturn(node.statements[0] as Node))

const constant = (node: Node, source: SourceFile): readonly Change[] => {
  if (node.kind === SyntaxKind.TrueKeyword) return [['constant', node, 'false']]
  if (node.kind === SyntaxKind.FalseKeyword) return [['constant', node, 'true']]
  if (isNumericLiteral(node)) {
    const value = Number(node.getText(source).replaceAll('_', ''))
    return [
      ['constant', node, String(value + 1)],
      ['constant', node, `(${value - 1})`],
    ]
  }
  if (!isStringLiteral(node) || (isPropertyAssignment(node.parent) && node.parent.name === node)) return []
  // a text that someone reads is not for tests
  if (/ |\.$/.test(node.text)) return []
  return [['constant', node, node.text === '' ? `'other'` : `''`]]
}
