import { type Refusal, refusalsFrom } from '#platform/refusals.ts';

/** Refusals about uploads, scans and quarantine. A landed code never changes its meaning or its parameters. */
export const ANTIVIRUS_REFUSALS = {
  'upload.key_form': { problem: 'invalid_field', english: 'The upload key has 32 hexadecimal digits.' },
  'upload.key_used': { problem: 'conflict', english: 'This key is already in use. Use each key once.' },
  'upload.scanner_busy': { problem: 'too_many_requests', english: 'The scanner is busy. Wait a moment and try again.' },
  'upload.too_many': {
    problem: 'too_many_requests',
    english: 'You have {count} uploads in progress. Wait until one is done.',
    params: { count: 'number' },
  },
  'upload.account_deleted': {
    problem: 'unauthenticated',
    english: 'Your account was deleted during the upload, so we kept nothing.',
  },
  'scan.already_finished': { problem: 'not_found', english: 'The scan already finished.' },
  'scan.not_deleted_yet': {
    problem: 'conflict',
    english: 'This file is still on the device. Delete it there, choose “I deleted it”, then remove the record.',
  },
  'scan.file_deleted': { problem: 'upload_cancelled', english: 'You deleted this file during its scan, so we kept nothing.' },
  'scan.copy_unreadable': { problem: 'unavailable', english: 'We couldn’t open our copy. Upload the file again.' },
  'scan.scanner_failed': {
    problem: 'unavailable',
    english: 'The scanner failed on this file twice. We’ll try again after the next scanner update.',
  },
  'scan.scanner_away': { problem: 'unavailable', english: 'The scanner isn’t available. Try again in a moment.' },
  'scan.wrong_password': { problem: 'invalid_field', english: 'This password doesn’t open the file. Check it and try again.' },
  'scan.entry_deleted': { problem: 'invalid_field', english: 'That entry was deleted. Reload the list.' },
  'false_alarm.no_threat': { problem: 'conflict', english: 'We found no threat in this file, so there’s nothing to report.' },
  'false_alarm.already_reported': { problem: 'conflict', english: 'You already reported this. An administrator will review it.' },
  'false_alarm.already_decided': { problem: 'not_found', english: 'This report already has a decision. Reload the list.' },
  'false_alarm.decision_changed': { problem: 'conflict', english: 'Someone else changed this decision. Reload the list.' },
  'kept_file.scanning': { problem: 'conflict', english: 'We’re scanning this file. Try again in a moment.' },
  'kept_file.none': { problem: 'not_found', english: 'We have no copy of this file.' },
  'kept_file.unreadable': { problem: 'unavailable', english: 'We couldn’t open our copy. Contact support.' },
  'kept_file.needs_no_password': { problem: 'conflict', english: 'This file isn’t waiting for a password. Upload it again.' },
  'waiting_files.disk_full': { problem: 'storage_full', english: 'The server is out of space. Try again later.' },
  'waiting_files.file_too_large': {
    problem: 'too_large',
    english: 'The file is larger than {maximum}, the limit here.',
    params: { maximum: 'bytes' },
  },
  'waiting_files.person_full': {
    problem: 'too_many_requests',
    english: 'Your waiting files fill your space. Wait until one is done.',
  },
  'waiting_files.server_full': {
    problem: 'storage_full',
    english: 'Waiting files fill the server’s space. Try again in a moment.',
  },
} as const satisfies Record<string, Refusal>;

export const { refuse, refuseField } = refusalsFrom(ANTIVIRUS_REFUSALS);
