import type { TablerIcon } from '@tabler/icons-react';
import type { ComponentProps } from 'react';
import { Link, type LinkProps } from 'react-router';
import './button.css';
import './button-link.css';

interface ButtonLinkProps extends ComponentProps<'a'> {
  href: string;
  variant?: 'primary' | 'quiet';
  size?: 's' | 'm';
  icon?: TablerIcon;
  /** Opens a new window without a reference to this one (`noopener`). */
  isNewWindow?: boolean;
}

/** A link out of the application that looks like a button: another window, a phone call, an email. */
export function ButtonLink({
  variant = 'quiet',
  size = 'm',
  icon: Icon,
  isNewWindow = false,
  children,
  ...props
}: ButtonLinkProps) {
  return (
    <a
      {...props}
      {...(isNewWindow && { target: '_blank', rel: 'noopener' })}
      className="button"
      data-variant={variant}
      data-size={size}
    >
      <span className="button__label">
        {Icon && <Icon size={size === 's' ? 16 : 18} stroke={1.7} aria-hidden="true" />}
        {children}
      </span>
    </a>
  );
}

interface ScreenLinkProps extends LinkProps {
  variant?: 'primary' | 'quiet';
  size?: 's' | 'm' | 'l';
}

/** A link within the application that looks like a button. */
export function ScreenLink({ variant = 'primary', size = 'm', children, ...props }: ScreenLinkProps) {
  return (
    <Link {...props} className="button" data-variant={variant} data-size={size}>
      <span className="button__label">{children}</span>
    </Link>
  );
}
