/** The workspace of the session: what it holds before, and what it must hold afterwards. */
export const pageLine = (line: number): string => `page line ${line}`
const BOM = '\uFEFF'
/** Just before a character outside the basic plane whose halves are units 2000 and 2001 of the line. */
export const BEFORE_CUT = 'w'.repeat(1999)

/** The workspace before the session, by path. */
export const FILES: Record<string, string | Uint8Array> = {
  'notes.txt': 'alpha\nbeta\nalpha beta\ngamma\n',
  'pages.txt': Array.from({ length: 25 }, (_, index) => `${pageLine(index + 1)}\n`).join(''),
  'long.txt': Array.from({ length: 2005 }, (_, index) => `${index + 1}\n`).join(''),
  'stale.txt': 'first\nsecond\n',
  'gone.txt': 'soon gone\n',
  'windows.txt': 'one\r\ntwo\r\nthree\r\n',
  'mixed.txt': 'one\r\ntwo\nthree\r\n',
  'marked.txt': `${BOM}marked one\nmarked two\n`,
  '数据/说明.md': '# 说明\n\n第一行：你好，世界\n第二行 😀\n',
  'both.txt': 'left\nright\n',
  'empty.txt': '',
  'no-newline.txt': 'last line',
  'binary.bin': new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x00, 0x01, 0x02, 0xff]),
  'latin.txt': new Uint8Array([0x63, 0x61, 0x66, 0xe9, 0x0a]),
  'wide.txt': `${BEFORE_CUT}😀 and more\nshort\n`,
  'folder/inside.txt': 'inside\n',
}

/** The workspace after the session: what was added or changed. The rest stays as it was. */
export const CHANGED: Record<string, string> = {
  'made/by/write.txt': 'uno\nTWO\n',
  'notes.txt': 'ALPHA\nBETA\nALPHA BETA\ngamma\n',
  'stale.txt': 'written after re-reading\n',
  'gone.txt': 'back again\n',
  'windows.txt': 'one\r\nTWO\r\nand a half\r\nthree\r\n',
  'mixed.txt': 'one\r\ntwo\r\n3\r\n',
  'marked.txt': 'marked one\nmarked 2\n',
  '数据/说明.md': '# 说明\n\n第一行：你好，宇宙\n第二行 🚀\n',
  '新目录/新文件-é.txt': '全新的内容\n绝对路径\n',
  'both.txt': 'LEFT\nRIGHT\n',
  'parallel.txt': 'made beside reads\n',
  'blank.txt': '',
}

/** What of it the native provider leaves in another form, with the decision. */
export const CHANGED_NATIVE: Record<string, { decision: string; content: string }> = {
  'mixed.txt': { decision: 'D11', content: 'one\r\ntwo\n3\r\n' },
  'marked.txt': { decision: 'D11', content: `${BOM}marked one\nmarked 2\n` },
}

/** A file beside the workspace and its content once a write to it was let through. */
export const OUTSIDE = { path: 'outside/escaped.txt', content: 'beyond the workspace\n' }
