import { IconMessageShare } from '@tabler/icons-react';
import { Link } from 'react-router';
import './show-to-support.css';

/** What can be shown, as the chat's address names it. */
export type ShownKind = 'alert' | 'scan' | 'rule';

/**
 * Leads to the chat with one thing laid beside the message. Nothing is shown to anybody until the person sends it there.
 * `name` is what it is called, so that the buttons of a list are told apart.
 */
export function ShowToSupport({ kind, id, name }: { kind: ShownKind; id: string; name: string }) {
  return (
    <Link className="show-to-support" to={`/chat?share=${kind}:${id}`} aria-label={`Show ${name} to support`}>
      <IconMessageShare size={16} stroke={1.7} aria-hidden="true" />
      <span>Show this to support</span>
    </Link>
  );
}
