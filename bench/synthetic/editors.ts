import type { Step } from '../quality/trajectory.ts'
import { turn, word } from './author.ts'

/** An edit that differs for each pair of texts, and the acknowledgement of its tool. */
export type Editor = (before: string, after: string) => Step

const file = '/repo/src/main.ts'

/** Tools of clients that change a file and acknowledge in the same words each time. */
export const editors = {
  Edit: (old_string, new_string) =>
    turn('Edit', { file_path: file, old_string, new_string }, `The file ${file} has been updated successfully.`),
  Write: (before, after) =>
    turn(
      'Write',
      { file_path: file, content: `${before}\n${after}` },
      `The file ${file} has been updated successfully.`,
    ),
  MultiEdit: (old_string, new_string) =>
    turn('MultiEdit', { file_path: file, edits: [{ old_string, new_string }] }, `Applied 1 edit to ${file}`),
  NotebookEdit: (_, new_source) =>
    turn('NotebookEdit', { notebook_path: '/repo/a.ipynb', cell_id: 'c3', new_source }, 'Updated cell c3'),
  apply_patch: (before, after) =>
    turn(
      'apply_patch',
      { input: `*** Begin Patch\n*** Update File: src/main.ts\n@@\n-${before}\n+${after}\n*** End Patch` },
      'Success. Updated the following files:\nM src/main.ts\n',
    ),
  mcp_edit_file: (oldText, newText) =>
    turn('mcp__filesystem__edit_file', { path: file, edits: [{ oldText, newText }] }, `Successfully edited ${file}`),
  mcp_write_file: (before, after) =>
    turn(
      'mcp__filesystem__write_file',
      { path: file, content: `${before}\n${after}` },
      `Successfully wrote to ${file}`,
    ),
  mcp_replace_symbol: (_, body) =>
    turn('mcp__serena__replace_symbol_body', { name_path: 'Main/run', relative_path: 'src/main.ts', body }, 'OK'),
  str_replace_editor: (old_str, new_str) =>
    turn(
      'str_replace_editor',
      { command: 'str_replace', path: file, old_str, new_str },
      `The file ${file} has been edited successfully.`,
    ),
  opencode_edit: (oldString, newString) =>
    turn('edit', { filePath: file, oldString, newString }, 'Edit applied successfully.'),
  pi_edit: (oldText, newText) =>
    turn('edit', { path: file, oldText, newText }, `Successfully replaced text in ${file}.`),
  gemini_replace: (old_string, new_string) =>
    turn(
      'replace',
      { file_path: file, old_string, new_string },
      `Successfully modified file: ${file} (1 replacements).`,
    ),
} as const satisfies Readonly<Record<string, Editor>>

/** The edit with this number. Each one changes another place in the file. */
export const nthEdit = (editor: Editor, number: number, text: string): Step =>
  editor(`${word(number + 1)} = 1`, `${word(number + 1)} = ${text}`)
