import type { SharedKind } from '@palisade/contract/chat-record';
import { IconMessageShare } from '@tabler/icons-react';
import { Link } from 'react-router';
import './show-to-support.css';

interface ShowToSupportProps {
  kind: SharedKind;
  id: string;
  name: string;
  /** The sign alone, where a list has many. */
  isSmall?: boolean;
}

/**
 * Leads to the chat with one thing laid beside the message. The record stays private until the person sends it there.
 * `name` is what it is called, so that the buttons of a list are told apart.
 */
export function ShowToSupport({ kind, id, name, isSmall = false }: ShowToSupportProps) {
  return (
    <Link
      className="show-to-support"
      title="Show this to support"
      to={`/chat?${new URLSearchParams({ share: `${kind}:${id}`, name })}`}
      aria-label={isSmall ? `Show ${name} to support` : `Show this to support: ${name}`}
    >
      <IconMessageShare size={16} stroke={1.7} aria-hidden="true" />
      {!isSmall && <span>Show this to support</span>}
    </Link>
  );
}
