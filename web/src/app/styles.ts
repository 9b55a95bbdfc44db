// The order is the cascade's: Mantine's parts lie in its layer, ours come after and outside of it.
import '@mantine/core/styles/baseline.layer.css';
import '@mantine/core/styles/global.layer.css';
import '@mantine/core/styles/UnstyledButton.layer.css';
import '@mantine/core/styles/Input.layer.css';
import './font.css';
import './tokens.css';
import './base.css';
