import type { WordList } from './concepts.ts';

export const SPANISH: WordList = {
  click: `haga clic; haz clic; pulse aqui; pincha aqui; pulsa aqui; en el enlace; en el siguiente enlace; cancele en; aqui:;
    a traves del enlace; siga el enlace; ingrese a; entre en; visite; acceda a; entra en; ingresa`,
  call: `llame; llamar; llamenos; llamanos; llama al; contacte con; telefono; al numero; marque; comuniquese; llame de inmediato;
    hable con; pongase en contacto; al 900; atencion telefonica; telefonicamente; comuniquese con`,
  reply: `escribeme; escribe; escriba; contesta; responde; responda; contacta con; contacte; mandame un mensaje; avisame;
    mandame; envia un mensaje; agregame; contactar; hablame; chatea con; habla con; envia un whatsapp; escribenos`,
  pay: `pague; pagar; paga; pagale; abone; abonar; abonelo; abonado; liquide; liquidar; pagar la; pague solo; paga solo;
    pendiente; pendientes; impagad*; falta el pago; realice el pago; transfiere; debe pagar; pago; no paga; paguen; regularice;
    depositar; cancele el monto; deposite`,
  transfer: `transferencia; transfiere; transferir; mandalo; manda el dinero; envia dinero; enviar dinero; haga la transferencia;
    haz una transferencia; un pago de; nuevo proveedor; depositar; deposito; ingrese el dinero; mandar dinero; por transferencia;
    bizum`,
  gift_card: `tarjeta/tarjetas regalo; tarjetas/tarjeta de regalo; tarjetas/tarjeta steam/google/apple/amazon/itunes/prepago;
    tarjetas de google; tarjetas prepago; google play; vales de compra; cupones prepago; paysafecard`,
  card_codes: `codigos por foto; mandes los codigos; envies los codigos; rasca; raspa; raspar; el codigo; fotos de los codigos;
    codigos por; envies los codigos; mandes los codigos; envia los codigos; envies _ codigos; foto de los codigos;
    codigo y enviamelo`,
  crypto: `bitcoin*; btc; usdt; cripto*; criptomoneda*; ethereum; billetera; monedero`,
  money_service: `western union; moneygram; ria; paysafecard`,
  cash_pickup: `recoger el efectivo; recoger el dinero; pasara a recoger; pasara por; el efectivo;
    un amigo/mensajero/companero pasara; en efectivo; entregue el dinero; joyas`,
  secret_data: `contrasena; clave; pin; datos de su/tu tarjeta; datos bancarios; numero de tarjeta; sus datos; tus datos;
    datos personales; cvv; tarjeta de coordenadas; codigo de seguridad; cuenta y numero; datos de acceso; dni;
    introduzca su tarjeta; introduzca los datos; numero de cuenta; credenciales`,
  confirm: `verifique; verifica; verificar; confirme; confirmar; confirma; actualice; actualizar; actualicela; actualiza;
    reactive; reactivela; reactivar; desbloquee; desbloquear; introduzca; ingrese; facilite; complete; valide; validar; cancele;
    anule; identifiquese; rellene; restablezca; su identidad; acceda; elija; seleccione; nueva fecha; para evitarlo; renovar;
    solicite; no abonad*; anulelo; bloqueelo; cancelelo; anulela`,
  chat_app: `whatsapp; telegram; signal; viber; wechat`,
  remote_tool: `anydesk; teamviewer; quicksupport; rustdesk; acceso remoto; control remoto; supremo; compartir pantalla`,
  tell_number: `digame; diganos; deme; dinos; dime; el id y; facilite el numero; el numero para; indique el codigo`,
  lend: `prestas; prestame; prestar; necesito dinero; necesito _ euros/dolares/pesos; me haces una transferencia; ayudas con;
    puedes pagar; me puedes; te lo devuelvo; pagarme; no puedo entrar en la app; me ayudas; hazme un bizum; te pago manana;
    puedes hacerme; envia 1*/2*/3*/5*; puedes enviarme; hacer un bizum; un bizum de; adelantar; adelantame; te lo pago;
    necesito 1*/2*/3*/5*; te lo devolvere; me prestas; pagar una factura; mandarme; hacerme un favor; mi tarjeta no funciona;
    pagarme un; pagar por mi; comprar algo por mi`,
  urgent: `urgente*; inmediat*; de inmediato; ahora mismo; hoy; ya; cuanto antes; ultimo aviso; aviso final; lo antes posible;
    rapido; urgencia; ahora; hoy mismo; atencion; importante; alerta; enseguida; ultima oportunidad`,
  deadline: `en 24/48 horas; antes de 24/48; dentro de las; tienes dos dias; caduca hoy; vence hoy; hasta hoy; 24 horas;
    48 horas; plazo; expira; dias; ultimo dia; antes de las; vencimiento`,
  threat: `o su; o sera; o tu; o envio; de lo contrario; para evitar; para no perder; evite; embargo; sera suspendid*;
    sera bloquead*; sera cancelad*; se devolvera; arrestado; recargo; retirada; si no paga; o se; perdera; sanciones;
    sera eliminad*; corte del; penalizacion; o lo`,
  secrecy: `entre nosotros; no lo comentes; no se lo digas; confidencial*; reservad*; en secreto; discrecion; no digas nada;
    a nadie; con nadie; discret*; sorpresa; no le digas; sin que nadie`,
  account: `cuenta; tarjeta; banco; banca; clave; app del banco; suscripcion; acceso; perfil; banca en linea; apple id;
    banca online`,
  blocked: `bloquead*; suspendid*; restringid*; limitad*; desactivad*; anulad*; cancelad*; caduca; vence; inhabilitad*;
    hemos anulado; suspender; temporalmente; congelad*; rechazado; sera suspendida; fallid*; expirad*; deshabilitad*`,
  unusual: `actividad sospechosa/inusual; acceso no autorizado; nuevo dispositivo; si no lo reconoce; si no ha sido usted;
    si no fue usted; no reconoce; movimiento sospechoso; nueva normativa; cargo no; compra no autorizada; inicio de sesion;
    intento de acceso; se ha vinculado; cargo de; operacion sospechosa; por seguridad; transferencia de; si no eres tu;
    no fuiste tu; movimientos inusuales; compra por; detectamos; dispositivo desconocido; acceso desde; confirme que es usted;
    hemos detectado; inicio de sesion; no es usted; operacion; se ha realizado; bizum no; se ha solicitado; cambio de telefono;
    nueva transferencia; si no ha solicitado; ha realizado un pago`,
  parcel: `paquete*; envio; pedido; entrega; aduana*; mensajeria; mercancia; paqueteria; encomienda; correos; repartidor; almacen
`,
  held_parcel: `no pudo ser entregado; no se pudo entregar; retenid*; tasas de aduana; tasa*; gastos de envio; gastos de aduana;
    direccion esta incompleta; direccion incompleta; direccion incorrecta; direccion erronea; se devolvera; devuelto al remitente;
    al remitente; pendiente*; falta el pago; liberacion; reprogram*; no hemos podido entregar; intento de entrega; aranceles;
    derechos de aduana; codigo postal; esta detenido; en espera; numero de calle; numero de casa; actualice la direccion;
    no se pudo; nueva entrega; no hemos podido; entrega fallida; reparto; volver a entregar; importe pendiente; retrasado;
    aduanero`,
  fee: `tasa*; gastos; gastos de gestion; tarifa; comision; gastos de envio; cargo; impuesto; tramite`,
  relation: `mama; papa; mami; papi; abuela; abuelo; abuelita; soy tu nieto; soy tu hij*; soy yo; hijo; hija; tia; tio; madre;
    padre; yaya`,
  new_number: `nuevo numero; numero nuevo; guarda este numero; otro numero; numero provisional; borra el anterior; mi nuevo;
    numero temporal; numero nuevo; este numero nuevo; estropeo el telefono; telefono nuevo; movil de repuesto; desde este numero;
    numero de un amigo`,
  phone_broken: `movil roto; roto el movil; se me ha roto; se me rompio; perdi el movil; perdi el celular; celular se me;
    se me cayo; telefono se rompio; roto la pantalla; al agua; movil averiado; robado el movil; estropeado el; se me ha caido;
    se me ha estropeado; me han robado`,
  new_phone: `nuevo movil; movil nuevo; nuevo telefono; telefono nuevo; nuevo celular; celular nuevo`,
  trouble: `accidente; fianza; policia; abogado; detenid*; emergencia; un apuro; comisaria; carcel`,
  boss: `director; directora; director general; jefe; jefa; gerente; consejero delegado; ceo; presidente; directivo;
    direccion general`,
  unavailable: `en una reunion; estoy reunid*; no puedo hablar; no puedo atender; estas disponible; un favor; estas libre;
    estas en tu puesto; necesito un favor; una tarea; en conferencia`,
  virus: `virus; infectad*; troyano; malware; hacker; hackead*; spyware; comprometid*; pirata; en riesgo; vulnerad*;
    archivos sospechosos; brecha; alerta de seguridad; amenaza*`,
  technician: `tecnic*; soporte tecnico; soporte; departamento tecnico; microsoft; windows; asistencia; licencia ha caducado;
    atencion al cliente; departamento de fraude; departamento de seguridad; servicio tecnico`,
  renewed: `renovado; se ha renovado; cargo; cobrado; cobro; sera renovad*; suscripcion; adeudo; compra de; se le ha cobrado;
    debitado; se renovara; pedido de; se le cobraran; cobraran; cobrara; factura de; su compra; se cargaran; cargo automatico`,
  not_authorised: `no autorizo; no ha autorizado; si no autoriz*; no reconoce; para cancelar; cancelar; anular;
    si no ha realizado; si no fue; si no desea; si no solicit*`,
  refund: `reembolso; devolucion; cobrado dos veces; tiene derecho; le corresponde; ayuda de; bono; compensacion; indemnizacion;
    subsidio; cheque; a su favor; saldo a favor; devolver; reintegro; abono; beca; ayuda; a su favor; bono social;
    ayuda pendiente; pago de _ euros; pendiente de cobro; subvencion; cheque; retribucion; cobrado de mas; pagado de mas;
    saldo a favor`,
  overpaid: `de mas; por error; de mas por; equivocadamente; por equivocacion`,
  give_back: `devuelva; diferencia; devolver; devolvernos; reintegre; devuelve; regrese`,
  fine: `multa*; sancion; deuda; infraccion; recargo; impago; peaje; embargo; trafico; denuncia; orden de detencion; citacion;
    penalizacion; apremio`,
  law: `embargo; detencion; arrestado; policia; juzgado; juicio; abogado; retirada; orden; judicial; corte; demanda; tribunal;
    interpol; europol; carcel; procedera al; recargo; permiso`,
  job: `trabajo; empleo; puesto; oferta; recursos humanos; tareas; curriculum; vacante; formacion; teletrabajo;
    cuenta de trabajo; sueldo; contratacion; encargada; encargado; medio tiempo; media jornada; reclutador*`,
  easy_money: `gana*; al dia; por dia; diari*; desde casa; sin experiencia; ingresos; comision; tareas sencillas; dinero facil;
    euros por hora; horas al dia; dolares al; cobra; por semana; dinero extra; ingresos extra; ganancias diarias; valora hoteles;
    valora productos; valorar; solo necesitas; tareas faciles; opiniones; por tarea; cobros; gana 1*; desde tu movil`,
  income: `ingresos extra; dinero extra; ganar dinero; gana dinero; gana entre; gana 1*/2*/3*/5*; ingreso adicional;
    ingresos diarios; dinero facil; gane dinero; ganancias desde; pago diario; ingresos pasivos`,
  advance_fee: `antes de empezar; antes de comenzar; por la formacion; para activar; activar tu cuenta; primero tienes que;
    depositar; para retirar; pagar _ curso; cuota de inscripcion; desbloquear; tasa de registro; curso; deposito inicial;
    materiales; certificado medico; primer sueldo; uniforme; examen`,
  affection: `mi amor; amor; carino; te quiero; te amo; corazon; mi vida; mi reina; abrazarte; te extrano; mi cielo; mi princesa;
    verte; numero equivocado; enamorad*; alma gemela; conocerte; contigo; querida; querido`,
  stuck: `retenid*; aduana; plataforma petrolera; militar; cirujano; soldado; ejercito; siria; tarjeta esta bloqueada; bloqueada;
    para el vuelo; vuelo; para ir a verte; herencia; mision; ingeniero; contrato; extranjero; maleta; billete; visado;
    cuenta congelada; medico; robado; robaron; cartera; hotel; confiscad*; maleta; pasaporte; aeropuerto; atrapad*; sin dinero;
    emergencia; varado`,
  investment: `invertir; inversion*; trading; cripto*; bitcoin; forex; broker; invierte; grupo de trading`,
  sure_profit: `garantizad*; sin riesgo; duplica*; ganancia*; rentabilidad; sin perder; multiplica*; libertad financiera;
    ganancia* garantizada*; beneficios garantizados; rentabilidad garantizada`,
  dwelling: `piso; apartamento; casa; habitacion; alquiler; vivienda; estudio; casero; inmueble; departamento; alquilar; local;
    propiedad`,
  cannot_show: `en el extranjero; no puedo ensenar*; no puedo mostrar*; le envio las llaves; envio las llaves;
    recibira las llaves; a traves de airbnb; fuera del pais; fuera de espana; me mude; por airbnb; llaves por; llaves mediante;
    tras el pago; despues del pago; sin visita; visita despues`,
  deposit: `deposito; fianza; por adelantado; adelantad*; reserva; primer mes; senal; meses por; anticipo; reservar; garantia;
    mensualidad`,
  scan: `escanee; escanea; escanear; codigo qr; qr`,
  paid_place: `parquimetro; estacionamiento; aparcamiento; parking; punto de recarga; aparcar; cargador; fuera de servicio;
    patinete; zona azul`,
  invoice: `factura*; pagos; recibo*; proveedor; abone; pague*; importe; transferencias`,
  new_account: `cuenta bancaria ha cambiado; nueva cuenta; nuevo iban; cambiado de banco; cuenta ha cambiado;
    datos bancarios han; nuevos datos bancarios; antiguo ya no; cambio de cuenta; cambio de banco; actualizado nuestra cuenta;
    hemos cambiado nuestra cuenta`,
  code: `codigo; clave; 6 digitos; seis digitos; codigo de verificacion; otp; sms; pin`,
  pass_on: `reenviar; reenvias; reenviame; leame; dime; digame; me lo puedes; mandame el codigo; enviame; por error; indiqueme;
    facilite; comparteme; pasame; me lo pasas; me lo mandas; me das; dicteme; dinos; me lo envias; me digas; comuniquenos;
    mandamelo; responda con; responde con; codigo que recibio; codigo del sms; codigo que le; codigo que te; indique el codigo;
    facilite el codigo; mande el codigo; deme el codigo; proporcione; mandame el codigo; pasame el codigo; enviame el codigo;
    codigo que te llega; manda el codigo`,
  keep_code: `no la comparta; no lo compartas; no comparta*; no comparta el; no compartas; nunca comparta; nunca; con nadie;
    no lo comparta; nunca le pediremos; no se lo de; si no lo ha pedido; jamas; nunca le`,
  one_time_code: `codigo de 6; codigo de seis; codigo de verificacion; codigo sms; clave que; otp; codigo que; codigo por sms;
    codigo de seguridad; codigo de whatsapp`,
  know_password: `conozco tu contrasena; conozco su contrasena; tu contrasena; hackeado; acceso total; acceso a tus; infectado;
    instale; soy un hacker; tus dispositivos; su contrasena; tu dispositivo; virus en tu`,
  recorded: `camara; camara web; grabe; te grabe; grabado; video intimo; paginas para adultos; porno*; video tuyo; masturb*;
    desnud*; intimo; fotos intimas; webcam; imagenes; video`,
  publish: `contactos; a todos tus; familia; amigos; publicar; publicare; lo vera; difundir*; envio el video; enviare;
    companeros; redes sociales; tus familiares; vera; mandare`,
  won: `ganado; has ganado; ganador*; felicidades; enhorabuena; seleccionad*; loteria; sorteo; premio; premiad*; afortunad*;
    te espera; reservad*; encuesta; agraciad*; elegido; ganaste; has sido; resultaste; visitante; 1 000 000; recoge tu;
    te ha tocado; afortunado; eres el; regalo; gratis; exclusiv*; samsung; iphone`,
  claim: `reclama*; reclamala; canjea*; recoge*; retirar; confirma la entrega; obtener; cobrar; gastos de; contacte; envio;
    recibir; reclame; entrega; consigue; recibelo; participa; solicita; pulsa`,
  costs: `por sms; por mensaje; coste; eur sms`,
  advertised: `gratis; gana; premio; chat; sorteo; tonos`,
  opt_out: `envia baja; baja al; darse de baja; envia stop`,
};
