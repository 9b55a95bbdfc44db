import type { ComponentPropsWithRef } from 'react';

/** A button with the person's initial. Mantine's `Menu.Target` passes its attributes and ref in `rest`. */
export function UserMenuButton({ username, className = '', ...rest }: { username: string } & ComponentPropsWithRef<'button'>) {
  const [initial = '?'] = username;
  return (
    <button type="button" className={`user-menu__button ${className}`} aria-haspopup="menu" {...rest}>
      <span className="unseen-phone tiny muted end">
        {/* The menu has the name. */}
        <bdi className="block base medium ink" aria-hidden="true">
          {username}
        </bdi>
        Security User <span className="visually-hidden">menu</span>
      </span>
      {/* The letter is decoration and not part of the button's name. */}
      <span className="avatar center round blue bold base" aria-hidden="true">
        {initial.toUpperCase()}
      </span>
    </button>
  );
}
