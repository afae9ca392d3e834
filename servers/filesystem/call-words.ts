import type { CallWords } from '../kernel/define-environment.js'

/** By tool: what people are after who call it, and what they are told when it is done. */
export const callWords: Readonly<Record<string, CallWords>> = {
  change_directory: {
    goal: 'go to another directory',
    answer: 'You are in {directory} now, which has {entries:entry}.',
    next: ['make_directory', 'create_archive'],
    checks: ['list_directory', 'show_tree', 'find_files', 'find_directories', 'search_text'],
  },
  show_session: {
    goal: 'see where I am and how much space I have',
    answer:
      'You are {user} in {directory}, in the groups {groups}. {used_bytes} bytes are used and {free_bytes} are free.',
  },
  list_directory: {
    goal: 'see what is in a directory',
    answer:
      'There {found=is|are} {found:entry} in {@directory}.[ Directories: {directories*{name}}.][ Files: {files*{name} ({bytes} bytes)}.][ There {links=is|are} {links:link}.]',
  },
  show_tree: {
    goal: 'see how a directory is structured',
    answer: '{name} has {directories:directory} and {files:file} under it[:\n{tree}].',
  },
  show_disk_usage: {
    goal: 'see how much space a directory takes',
    answer:
      '{@directory} takes {bytes} bytes in {files:file} and {directories:directory}[; the largest file is {largest.name} with {largest.bytes} bytes].',
  },
  find_files: { goal: 'find files by name', answer: 'I found {found:file}[: {files*{file}, modified {modified}}].' },
  find_directories: {
    goal: 'find a directory',
    answer: 'I found {found:directory}[: {directories*{directory}, owned by {owner}}].',
  },
  search_text: {
    goal: 'find where a text occurs in my files',
    answer: '{found:file} {found=mentions|mention} it[: {files*{file} in line {line}, "{text}"}].',
    wishes: ['search what was written'],
  },
  find_files_by_size: { goal: 'find large files', answer: 'I found {found:file}[: {files*{name} ({bytes} bytes)}].' },
  find_files_by_date: {
    goal: 'find files by when they were changed',
    answer: 'I found {found:file}[: {files*{name}, modified {modified}}].',
  },
  find_links: {
    goal: 'find symbolic links',
    answer: 'I found {found:link}[: {links*{name}, which points to {target}}].',
  },
  read_link: {
    goal: 'see where a link leads',
    answer: 'The link points to {target} and is {state}.',
    checks: [
      'list_directory',
      'show_tree',
      'read_file',
      'read_lines',
      'count_lines',
      'search_in_file',
      'show_file_info',
    ],
  },
  create_link: { goal: 'make a link to a file', answer: 'The link {name} points to {target} now.', checks: [] },
  read_file: {
    goal: 'read a file',
    answer: '{name} has {lines:line}[: "{text}"].',
    checks: ['show_file_info', 'compare_files'],
    wishes: ['see what a file says'],
  },
  read_lines: {
    goal: 'read a part of a file',
    answer: 'Here is {name} from line {from_line} on[: "{text}"].',
    wishes: ['see what a file says'],
  },
  count_lines: {
    goal: 'see how long a file is',
    answer: '{name} has {lines:line}, {words:word} and {bytes:byte}.',
    checks: ['read_file', 'read_lines'],
  },
  show_file_info: {
    goal: 'see the details of a file',
    answer:
      '{name} has {bytes} bytes, belongs to {owner} (group {group}) with the permissions {mode}, and was last modified {modified}. Its checksum is {checksum}.[ It was taken {taken}[ in {city}].]',
    checks: ['read_file', 'read_lines', 'count_lines', 'search_in_file', 'compare_files'],
  },
  search_in_file: {
    goal: 'find a text in a file',
    answer: '{name} has that on {found:line}[: {matches*line {line}, "{text}"}].',
    checks: ['read_file', 'show_file_info'],
  },
  sort_lines: {
    goal: 'see the lines of a file sorted',
    answer: 'This is {name}, sorted[: "{text}"].',
    said: ['order'],
    checks: [],
  },
  compare_files: {
    goal: 'compare two files',
    answer:
      'The two files {identical?are identical|differ}[. Taken out in the second: {removed:line}][. New in the second: {added:line}][. Changes: {changes}].',
    said: ['other_file'],
  },
  write_file: {
    goal: 'write a file',
    answer: '{name} is {status}, with {bytes:byte}.',
    next: ['append_to_file', 'change_file_permissions'],
    checks: ['list_directory'],
  },
  append_to_file: {
    goal: 'add a line to a file',
    answer: 'I added it; {name} has {lines:line} and {bytes} bytes now.',
    next: ['copy_file'],
    checks: ['read_file'],
  },
  replace_text: {
    goal: 'replace a text in a file',
    answer: 'I replaced {replaced:occurrence} in {name}, which has {bytes} bytes now.',
    next: ['copy_file'],
    checks: ['read_file'],
  },
  move_file: {
    goal: 'move a file',
    answer: '{name} is {status}: it is now {file}.',
    next: ['rename_file', 'change_file_permissions'],
    checks: ['list_directory'],
  },
  rename_file: {
    goal: 'rename a file',
    answer: 'The file is called {name} now.',
    next: ['move_file'],
    checks: ['list_directory'],
  },
  copy_file: {
    goal: 'copy a file',
    answer: 'The copy is {file}, with {bytes} bytes.',
    next: ['replace_text', 'append_to_file', 'change_file_permissions'],
    checks: ['list_directory'],
  },
  make_directory: {
    goal: 'make a directory',
    answer: 'I made the directory {name}, with the permissions {mode}.',
    next: [
      'copy_file',
      'move_file',
      'copy_directory',
      'change_directory',
      'write_file',
      'extract_archive',
      'move_directory',
      'change_directory_permissions',
    ],
    checks: [],
  },
  remove_directory: {
    goal: 'remove an empty directory',
    answer: 'The directory {name} is gone.',
    checks: ['list_directory', 'show_tree'],
  },
  move_directory: {
    goal: 'move a directory',
    answer: '{name} is now {directory}; {moved:entry} moved with it.',
    next: ['change_directory', 'change_directory_permissions'],
    checks: ['list_directory', 'show_tree'],
  },
  copy_directory: {
    goal: 'copy a directory',
    answer: 'I copied it to {directory}, with {copied:entry} of {bytes} bytes in all.',
    next: ['change_directory', 'change_directory_permissions'],
    checks: ['list_directory', 'show_tree', 'show_disk_usage'],
  },
  trash_file: {
    goal: 'delete a file',
    answer: '{name} went into the trash.',
    next: ['empty_trash'],
    checks: ['list_trash'],
  },
  trash_directory: {
    goal: 'put a directory into the trash',
    answer: '{name} went into the trash with {entries:entry}.',
    next: ['empty_trash'],
    checks: ['list_trash'],
  },
  list_trash: {
    goal: 'see what is in the trash',
    answer: 'The trash holds {found:item}[: {items*{name} from {origin}}].',
  },
  restore_from_trash: {
    goal: 'get something back from the trash',
    answer: '{name} is back where it was.',
    next: ['move_file', 'copy_file'],
    checks: ['read_file', 'list_directory'],
  },
  empty_trash: {
    goal: 'empty the trash',
    answer: 'I deleted {deleted:item} for good, which frees {freed_bytes} bytes.',
    checks: ['show_session'],
  },
  change_file_permissions: {
    goal: 'change the permissions of a file',
    answer: '{name} now has the permissions {mode} instead of {before}.',
    checks: [],
  },
  change_directory_permissions: {
    goal: 'change the permissions of a directory',
    answer: '{name} now has the permissions {mode} instead of {before}.',
    checks: [],
  },
  create_archive: {
    goal: 'zip a directory',
    answer: 'I packed {files:file} into {name}, {bytes} bytes in all.',
    next: ['move_file', 'copy_file', 'trash_directory'],
    checks: ['list_archive'],
  },
  list_archive: {
    goal: 'see what is in an archive',
    answer: '{name} holds {found:file}[: {members*{member} ({bytes} bytes)}].',
  },
  extract_archive: {
    goal: 'unpack an archive',
    answer: 'I unpacked {files:file} with {bytes} bytes into {directory}.',
    next: ['change_directory', 'trash_file'],
    checks: ['list_directory', 'show_tree', 'find_files'],
  },
}
