/*
  Scripts left on a web server that let a stranger run commands on it.
  A finding needs live code: the file starts as a page or as an image that hides one,
  and the call stands where a statement can stand. Prose about webshells is not enough.
*/

private rule Webshell_Context_Page
{
  strings:
    $open_php = "<?php" nocase
    $open_echo = "<?="
  condition:
    filesize < 8MB and (
      (uint8(0) == 0x3c and not uint32be(0) == 0x3c3f786d) or  // "<", but not an XML document
      uint32be(0) == 0xefbbbf3c or                             // byte order mark, "<"
      (uint8(0) <= 0x20 and ($open_php in (0..64) or $open_echo in (0..64))) or
      uint32be(0) == 0x47494638 or                             // GIF8
      uint32be(0) == 0x89504e47 or                             // PNG
      uint16be(0) == 0xffd8 or                                 // JPEG
      uint32be(0) == 0x25504446 or                             // %PDF
      uint32be(0) == 0x52494646                                // RIFF
    )
}

rule Webshell_PHP_Eval_Request
{
  meta:
    description = "A web page that runs any program code a visitor sends to it."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1505/003/"
    verdict = "infected"
    family = "webshell"
    threat = "Webshell.PHP.EvalRequest"
  strings:
    $php = /<\?(php|=|[ \t\r\n@])/ nocase
    $eval = /(<\?php|<\?=|<\?|[;{}()@=\n\t])[ \t]{0,20}@?(eval|assert)[ \t]{0,8}\([ \t]{0,8}@?((base64_decode|gzinflate|gzuncompress|str_rot13|stripslashes|urldecode|rawurldecode|trim|hex2bin|strrev)[ \t]{0,4}\([ \t]{0,4}@?){0,3}\$_(POST|GET|REQUEST|COOKIE|SERVER)[ \t]{0,4}[\[\{]/ nocase
  condition:
    Webshell_Context_Page and $php and $eval
}

rule Webshell_PHP_Eval_Request_In_Text
{
  meta:
    description = "Text that contains a line of a web backdoor, perhaps as an example."
    severity = "medium"
    reference = "https://attack.mitre.org/techniques/T1505/003/"
    verdict = "suspicious"
    family = "webshell"
    threat = "Webshell.PHP.InText"
  strings:
    $eval = /<\?(php|=)[ \t\r\n]{1,20}@?(eval|assert|system|passthru|shell_exec)[ \t]{0,8}\([ \t]{0,8}@?\$_(POST|GET|REQUEST|COOKIE)[ \t]{0,4}[\[\{]/ nocase
  condition:
    filesize < 8MB and $eval and not Webshell_Context_Page
}

rule Webshell_PHP_Command_Request
{
  meta:
    description = "A web page that runs any system command a visitor sends to it."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1505/003/"
    verdict = "infected"
    family = "webshell"
    threat = "Webshell.PHP.CommandRequest"
  strings:
    $php = /<\?(php|=|[ \t\r\n@])/ nocase
    $command = /(<\?php|<\?=|<\?|echo|print|[;{}()@=.\n\t])[ \t]{0,20}@?(system|passthru|shell_exec|exec|popen|proc_open|pcntl_exec)[ \t]{0,8}\([ \t]{0,8}@?((base64_decode|stripslashes|urldecode|trim|hex2bin|strrev)[ \t]{0,4}\([ \t]{0,4}@?){0,2}["']?\$_(POST|GET|REQUEST|COOKIE|SERVER)[ \t]{0,4}[\[\{]['"]?[A-Za-z0-9_-]{1,32}/ nocase
    $backtick = /(echo|print|=|;)[ \t]{0,8}`[ \t]{0,8}(\{)?\$_(POST|GET|REQUEST|COOKIE)\[['"]?[A-Za-z0-9_-]{1,32}['"]?\][^\n`]{0,40}`/ nocase
    // REQUEST_URI and its kind in a command are a bug; only what a client alone decides is a backdoor
    $server = /\([ \t]{0,8}@?["']?\$_SERVER[ \t]{0,4}\[['"](argv|PHP_SELF|SCRIPT_|DOCUMENT_ROOT|PWD|HOME|USER|SHELL)/ nocase
  condition:
    Webshell_Context_Page and $php and (#command > #server or $backtick)
}

rule Webshell_PHP_Assigned_Command
{
  meta:
    description = "A small web page that takes a command from the visitor and runs it on the server."
    severity = "high"
    reference = "https://attack.mitre.org/techniques/T1505/003/"
    verdict = "infected"
    family = "webshell"
    threat = "Webshell.PHP.CommandVariable"
  strings:
    $php = /<\?(php|=|[ \t\r\n@])/ nocase
    $take = /\$(cmd|command|c|k|x|exec|shell)[ \t]{0,4}=[ \t]{0,4}\(?@?((base64_decode|trim|urldecode|stripslashes)\()?\$_(POST|GET|REQUEST|COOKIE)\[/ nocase
    $run = /[;{}()@=.\n\t ](system|passthru|shell_exec|exec|popen|proc_open)[ \t]{0,4}\([ \t]{0,4}["']?\$(cmd|command|c|k|x|exec|shell)\b/ nocase
    $show = /(<pre>|<textarea|<form|echo[ \t(]|print|passthru|system)/ nocase
    $guard1 = "escapeshellcmd" nocase
    $guard2 = "escapeshellarg" nocase
    $guard3 = "in_array" nocase
    $guard4 = /switch[ \t]{0,4}\([ \t]{0,4}\$(cmd|command|c|k|x|exec)\b/ nocase
  condition:
    Webshell_Context_Page and filesize < 16KB and $php and $take and $run and $show and not any of ($guard*)
}

rule Webshell_PHP_Variable_Function
{
  meta:
    description = "A web page that lets a visitor choose which server function to run and with what input."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1505/003/"
    verdict = "infected"
    family = "webshell"
    threat = "Webshell.PHP.VariableFunction"
  strings:
    $call = /\$_(POST|GET|REQUEST|COOKIE)[ \t]{0,4}[\[\{][^\]\}\n]{0,32}[\]\}][ \t]{0,4}\([ \t]{0,4}@?\$_(POST|GET|REQUEST|COOKIE|SERVER)[ \t]{0,4}[\[\{]/
    $callback = /(call_user_func|call_user_func_array|array_map|array_filter|array_walk|usort|uasort|register_shutdown_function|ob_start)[ \t]{0,4}\([ \t]{0,4}@?\$_(POST|GET|REQUEST|COOKIE)[ \t]{0,4}\[[^\]\n]{0,32}\][ \t]{0,4},[^\n;]{0,40}\$_(POST|GET|REQUEST|COOKIE)/ nocase
    $hidden = /(array_map|array_filter|call_user_func|usort|array_walk)[ \t]{0,4}\([ \t]{0,4}["'](assert|eval|system|passthru|shell_exec|exec)["'][ \t]{0,4},[^\n;]{0,40}\$_(POST|GET|REQUEST|COOKIE)/ nocase
  condition:
    Webshell_Context_Page and any of them
}

rule Webshell_PHP_Preg_Replace_Eval
{
  meta:
    description = "A web page that abuses a text-replacement function to run code sent by a visitor."
    severity = "critical"
    reference = "https://www.php.net/manual/en/reference.pcre.pattern.modifiers.php"
    verdict = "infected"
    family = "webshell"
    threat = "Webshell.PHP.PregReplaceEval"
  strings:
    $preg = /preg_replace[ \t]{0,4}\([ \t]{0,4}["'][\/#~][^"'\n]{0,60}[\/#~][imsxuADSUX]{0,6}e[imsxuADSUX]{0,6}["'][ \t]{0,4},[ \t]{0,4}@?((base64_decode|stripslashes|str_rot13)\()?["']?\$_(POST|GET|REQUEST|COOKIE)/ nocase
    $create = /create_function[ \t]{0,4}\([ \t]{0,4}["'][^"'\n]{0,20}["'][ \t]{0,4},[ \t]{0,4}@?((base64_decode|stripslashes|str_rot13|gzinflate)\(){0,2}\$_(POST|GET|REQUEST|COOKIE)/ nocase
  condition:
    Webshell_Context_Page and any of them
}

rule Webshell_PHP_Eval_Input_Stream
{
  meta:
    description = "A web page that runs whatever is sent to it in the body of a request."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1505/003/"
    verdict = "infected"
    family = "webshell"
    threat = "Webshell.PHP.EvalInputStream"
  strings:
    // close to the opening mark: development servers run posted code too, deep inside real programs
    $eval = /<\?(php|=)[^?]{0,300}[;{}()@=\n\t ]@?(eval|assert|system|passthru|shell_exec)[ \t]{0,4}\([ \t]{0,4}@?((base64_decode|gzinflate|gzuncompress|str_rot13|strrev|trim)[ \t]{0,4}\([ \t]{0,4}@?){0,3}file_get_contents[ \t]{0,4}\([ \t]{0,4}["']php:\/\/input/ nocase
    $remote = /<\?(php|=)[^?]{0,300}[;{}()@=\n\t ]@?eval[ \t]{0,4}\([ \t]{0,4}["']?(\?>["'][ \t]{0,4}\.[ \t]{0,4})?@?file_get_contents[ \t]{0,4}\([ \t]{0,4}["']https?:\/\// nocase
  condition:
    Webshell_Context_Page and any of them
}

rule Webshell_PHP_Packed_Layers
{
  meta:
    description = "A web page whose real program is packed in several layers, as backdoors are."
    severity = "high"
    reference = "https://attack.mitre.org/techniques/T1027/"
    verdict = "infected"
    family = "webshell"
    threat = "Webshell.PHP.PackedLayers"
  strings:
    $layers = /(eval|assert)[ \t]{0,4}\([ \t]{0,4}["']?(\?>["'][ \t]{0,4}\.[ \t]{0,4})?((gzinflate|gzuncompress|gzdecode|str_rot13|strrev|convert_uudecode|rawurldecode|urldecode)[ \t]{0,4}\([ \t]{0,4}){1,6}base64_decode[ \t]{0,4}\([ \t]{0,4}((str_rot13|strrev)[ \t]{0,4}\([ \t]{0,4}){0,2}["'][A-Za-z0-9+\/=]{200}/ nocase
  condition:
    Webshell_Context_Page and $layers
}

rule Webshell_PHP_Eval_Base64
{
  meta:
    description = "A web page that hides its program as encoded text; some paid plug-ins do this too."
    severity = "medium"
    reference = "https://attack.mitre.org/techniques/T1027/"
    verdict = "suspicious"
    family = "webshell"
    threat = "Webshell.PHP.EvalEncoded"
  strings:
    $eval = /[;{}()@=\n\t ](eval|assert)[ \t]{0,4}\([ \t]{0,4}base64_decode[ \t]{0,4}\([ \t]{0,4}["'][A-Za-z0-9+\/=]{80}/ nocase
  condition:
    Webshell_Context_Page and $eval
}

rule Webshell_PHP_Image_Polyglot
{
  meta:
    description = "A picture that carries a hidden web program able to run commands."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1027/003/"
    verdict = "infected"
    family = "webshell"
    threat = "Webshell.PHP.InImage"
  strings:
    $code = /<\?(php|=).{0,400}[;{}()@=.\n\t ](eval|assert|system|passthru|shell_exec|exec|popen|proc_open|move_uploaded_file|base64_decode)[ \t]{0,4}\(/s nocase
  condition:
    filesize < 16MB and $code and (
      uint32be(0) == 0x47494638 or
      uint32be(0) == 0x89504e47 or
      uint32be(0) == 0xffd8ffe0 or
      uint32be(0) == 0xffd8ffe1 or
      uint32be(0) == 0xffd8ffdb
    )
}

rule Webshell_PHP_Kit_WSO
{
  meta:
    description = "A well-known remote-control page (WSO) that gives a stranger full use of a web server."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1505/003/"
    verdict = "infected"
    family = "webshell"
    threat = "Webshell.PHP.WSO"
  strings:
    $a = /\$default_action[ \t]{0,4}=[ \t]{0,4}['"]FilesMan['"]/
    $b = /function[ \t]{1,4}(wso|WSO)(Login|Header|Footer|Ex|ViewSize|Perms|RecursiveCopy|Which|setcookie)\b/
    $c = /function[ \t]{1,4}action(FilesMan|SafeMode|Bruteforce|BindConsole|BackConnect|SelfRemove)\b/
    $d = /define\(['"]WSO_VERSION['"]/
  condition:
    Webshell_Context_Page and 2 of them
}

rule Webshell_PHP_Kit_C99_R57
{
  meta:
    description = "A well-known remote-control page (C99 or R57) that gives a stranger full use of a web server."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1505/003/"
    verdict = "infected"
    family = "webshell"
    threat = "Webshell.PHP.C99"
  strings:
    $a = /(function[ \t]{1,4}|if[ \t]{0,4}\(![ \t]{0,2}function_exists\(["'])(c99|c100)(_buff_prepare|_sess_put|fsearch|getsource|sh_getupdate|ftpbrutecheck)/
    $b = /\$c99sh_(updateurl|sourcesurl|bind_port_c|bc_pl)/ nocase
    $c = /\$(sh_mainurl|sh_ver|nixpwdperpage|bindport_pass|surl_autofill_include|filestealth)[ \t]{0,4}=/
    $d = /r57[_]?shell|\$port_bind_bd_(pl|c)[ \t]{0,4}=[ \t]{0,4}["']/
    $e = /\$back_connect(_c|_pl|_py)?[ \t]{0,4}=[ \t]{0,4}["'][A-Za-z0-9+\/]{60}/
    $f = /\$datapipe_(c|pl)[ \t]{0,4}=[ \t]{0,4}["'][A-Za-z0-9+\/]{60}/
  condition:
    Webshell_Context_Page and 2 of them
}

rule Webshell_PHP_Kit_B374k_P0wny
{
  meta:
    description = "A well-known remote-control page that gives a stranger a command window on a web server."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1505/003/"
    verdict = "infected"
    family = "webshell"
    threat = "Webshell.PHP.B374k"
  strings:
    $b1 = /\$(GLOBALS\[['"])?(b374k|s_pass|packer)['"]?\]?[ \t]{0,4}=[ \t]{0,4}["'][0-9a-f]{32,40}["'];/
    $b2 = /b374k[ _-](shell|2\.|3\.|m1n1)/ nocase
    $b3 = /eval\(["']\?>["']\.gzuncompress\(base64_decode\(/
    $p1 = /function[ \t]{1,4}featureShell[ \t]{0,4}\(/
    $p2 = /function[ \t]{1,4}feature(Hint|Pwd|Download|Upload)[ \t]{0,4}\(/
    $p3 = /p0wny[@]shell:~#/
  condition:
    Webshell_Context_Page and (2 of ($b*) or 2 of ($p*))
}

rule Webshell_Godzilla_Behinder_Default_Key
{
  meta:
    description = "A web backdoor that still carries the factory key of a known attack tool."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1505/003/"
    verdict = "infected"
    family = "webshell"
    threat = "Webshell.Multi.DefaultKey"
  strings:
    $behinder = /[("'= ]e45e329f[e]b5d925b["';) ]/
    $godzilla = /[("'= ]3c6e0b8a[9]c15224a["';) ]/
    $use1 = "AES" fullword
    $use2 = "openssl_decrypt" nocase
    $use3 = "defineClass"
    $use4 = "RijndaelManaged"
    $use5 = /function[ \t]{1,4}encode\(\$D,\$K\)/
    $use6 = "getBasicsInfo"
    $use7 = "base64Decode"
  condition:
    Webshell_Context_Page and filesize < 256KB and ($behinder or $godzilla) and any of ($use*)
}

rule Webshell_PHP_Upload_Form
{
  meta:
    description = "A tiny page whose only use is to put files on the web server."
    severity = "medium"
    reference = "https://attack.mitre.org/techniques/T1505/003/"
    verdict = "suspicious"
    family = "webshell"
    threat = "Webshell.PHP.Uploader"
  strings:
    $php = "<?php" nocase
    $move = /(move_uploaded_file|copy)[ \t]{0,4}\([ \t]{0,4}\$_FILES\[[^\n;]{1,80}\$_(FILES|POST|GET|REQUEST)\[/ nocase
    $form = /<input[^>]{1,60}type=["']?file/ nocase
  condition:
    Webshell_Context_Page and filesize < 2KB and all of them
}

rule Webshell_JSP_Runtime_Request
{
  meta:
    description = "A Java web page that runs any system command a visitor sends to it."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1505/003/"
    verdict = "infected"
    family = "webshell"
    threat = "Webshell.JSP.RuntimeRequest"
  strings:
    $open = /<%[@!= \t\r\n]/
    $direct = /getRuntime\(\)[ \t\r\n]{0,8}\.[ \t\r\n]{0,8}exec\([^;\n]{0,80}request\.(getParameter|getHeader)\(/
    $builder = /new[ \t]{1,4}ProcessBuilder\([^;\n]{0,120}request\.(getParameter|getHeader)\(/
    $take = /String(\[\])?[ \t]{1,4}(cmd|command|c|cmds?)[ \t]{0,4}=[ \t]{0,4}[^;\n]{0,80}request\.(getParameter|getHeader)\(["'](cmd|command|c|exec|shell|pwd)["']\)/
    $run = /getRuntime\(\)[ \t\r\n]{0,8}\.[ \t\r\n]{0,8}exec\([ \t]{0,4}(new[ \t]String\[\][ \t]{0,4}\{[^;\n]{0,60})?(cmd|command|c|cmds?)\b/
  condition:
    Webshell_Context_Page and $open and ($direct or $builder or ($take and $run))
}

rule Webshell_JSP_Class_Loader
{
  meta:
    description = "A Java web page that loads and runs program code sent by a visitor."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1505/003/"
    verdict = "infected"
    family = "webshell"
    threat = "Webshell.JSP.ClassLoader"
  strings:
    $open = /<%[@! \t\r\n]/
    $loader = /class[ \t]{1,4}[A-Za-z_]{1,16}[ \t]{1,4}extends[ \t]{1,4}ClassLoader/
    $define = /(super\.)?defineClass\([ \t]{0,4}[a-z_]{1,12},[ \t]{0,4}0,/ nocase
    $input1 = "request.getReader()"
    $input2 = "request.getParameter("
    $input3 = "request.getInputStream()"
    $new = /\.newInstance\(\)[ \t\r\n]{0,8}\.equals\(/
  condition:
    Webshell_Context_Page and filesize < 256KB and $open and $loader and $define and $new and any of ($input*)
}

rule Webshell_ASP_Eval_Request
{
  meta:
    description = "A Windows web page that runs any program code a visitor sends to it."
    severity = "critical"
    reference = "https://attack.mitre.org/software/S0020/"
    verdict = "infected"
    family = "webshell"
    threat = "Webshell.ASP.EvalRequest"
  strings:
    $asp = /<%[ \t\r\n=]{0,8}(eval|execute|executeglobal)[ \t]{0,4}\(?[ \t]{0,4}request(\.(item|form|querystring))?[ \t]{0,4}[\[(][ \t]{0,4}["'][^"'\n]{1,32}["']/ nocase
    $jscript = /<%@[ \t]{0,4}Page[^%]{0,80}Jscript[^%]{0,80}%>[^%]{0,40}<%[^%]{0,120}eval[ \t]{0,4}\([^%]{0,60}Request(\.(Item|Form|QueryString))?[ \t]{0,4}[\[(]/ nocase
    $script = /<script[^>]{0,60}runat=["']?server["']?[^>]{0,40}>[^<]{0,200}(eval|execute)[ \t]{0,4}\(?[ \t]{0,4}Request(\.(Item|Form|QueryString))?[ \t]{0,4}[\[(]/ nocase
  condition:
    Webshell_Context_Page and any of them
}

rule Webshell_ASPX_Process_Request
{
  meta:
    description = "A Windows web page that runs system commands typed by a visitor."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1505/003/"
    verdict = "infected"
    family = "webshell"
    threat = "Webshell.ASPX.ProcessRequest"
  strings:
    $page = /<%@[ \t]{0,4}(Page|WebHandler|WebService)/ nocase
    $start = /(ProcessStartInfo|Process\.Start|new[ \t]{1,4}Process\()/ nocase
    $shell = /["'\\](cmd|powershell)(\.exe)?["']/ nocase
    $flag = /["'][ \t]{0,4}\/c[ \t]{1,4}["'][ \t]{0,4}(\+|&)/ nocase
    $input = /(Request(\.(Item|Form|QueryString|Params))?[ \t]{0,4}[\[(][ \t]{0,4}["']|txtarg\.Text|\.Text[ \t]{0,4};|\.Text\))/ nocase
    $output = "RedirectStandardOutput" nocase
  condition:
    Webshell_Context_Page and filesize < 512KB and all of them
}

rule Webshell_ASPX_Assembly_Load
{
  meta:
    description = "A Windows web page that loads and runs a program sent by a visitor."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1620/"
    verdict = "infected"
    family = "webshell"
    threat = "Webshell.ASPX.AssemblyLoad"
  strings:
    $page = /<%@[ \t]{0,4}(Page|WebHandler|WebService)/ nocase
    $load = /Assembly\.Load\(.{0,201}(Request\.(BinaryRead|Form|Item|InputStream)|FromBase64String|TransformFinalBlock)/s nocase
    $reflect = /GetMethod\(["']Load["'],.{0,201}(Request|FromBase64String|TransformFinalBlock)/s nocase
    $run = /\.CreateInstance\(["'][A-Za-z0-9]{1,12}["'](,[ \t]{0,4}true)?\)[ \t\r\n]{0,8}\.Equals\(/ nocase
    $input = /Request(\.|\[)/
  condition:
    Webshell_Context_Page and filesize < 512KB and $page and $input and ($load or $reflect) and $run
}
